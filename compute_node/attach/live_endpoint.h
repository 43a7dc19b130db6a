// An endpoint that dies with its memory node.
#pragma once

#include <memory>
#include <utility>

#include "compute_node/attach/lease_keeper.h"
#include "transport/endpoint.h"

namespace farvec::compute_node {

/// Mapped bytes outlive the node that wrote them; this endpoint does not: after the death post()
/// refuses and what is outstanding completes with `unavailable`. An endpoint below that finds its
/// peer gone tells all others. A node that refuses a read (`failed_precondition`) is gone as well:
/// it granted the lease, and has taken it back or is being killed, when a device may lose its
/// regions before its connections.
class LiveEndpoint final : public transport::Endpoint {
 public:
  LiveEndpoint(std::unique_ptr<transport::Endpoint> below, std::shared_ptr<Liveness> liveness)
      : below_(std::move(below)), liveness_(std::move(liveness)) {}

  void register_memory(std::span<std::byte> memory) override { below_->register_memory(memory); }
  Status post(std::span<const transport::ReadRequest> reads) override {
    if (!alive()) return {StatusCode::unavailable, "the memory node is gone"};
    const Status status = below_->post(reads);
    note(status.code());
    return status;
  }
  std::size_t poll(std::span<transport::Completion> completions) override {
    if (!alive() && !told_) {
      told_ = true;
      below_->peer_lost();
    }
    const std::size_t count = below_->poll(completions);
    for (auto& completion : completions.first(count)) note(completion.status);
    if (count > 0 && !alive()) {
      for (auto& completion : completions.first(count)) {
        completion.status = StatusCode::unavailable;
        completion.bytes = 0;
      }
    }
    return count;
  }
  transport::EndpointLimits limits() const override { return below_->limits(); }
  std::uint64_t region_bytes(transport::RegionId region) const override {
    return below_->region_bytes(region);
  }
  std::string description() const override { return below_->description(); }
  /// Of a dead node nobody could deliver anything.
  double coverage() const override { return alive() ? below_->coverage() : 0; }
  void peer_lost() override { liveness_->alive.store(false, std::memory_order_relaxed); }
  void close() override { below_->close(); }

 private:
  bool alive() const { return liveness_->alive.load(std::memory_order_relaxed); }
  void note(StatusCode code) {
    if (code != StatusCode::unavailable && code != StatusCode::failed_precondition) return;
    liveness_->alive.store(false, std::memory_order_relaxed);
  }

  std::unique_ptr<transport::Endpoint> below_;
  std::shared_ptr<Liveness> liveness_;
  bool told_ = false;  ///< the endpoint below
};

}  // namespace farvec::compute_node
