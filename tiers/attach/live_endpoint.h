// A LiveEndpoint is an endpoint that dies with its memory node.
#pragma once

#include <memory>
#include <utility>

#include "tiers/attach/lease_keeper.h"
#include "transport/forwarding_endpoint.h"

namespace farvec::tiers {

/// Mapped bytes outlive the node that wrote them; this endpoint does not: after the death post()
/// refuses, and what is outstanding completes with `unavailable`. When the endpoint below finds its
/// peer gone, all other endpoints learn it. A node that refuses a read (`failed_precondition`)
/// counts as gone as well: it granted the lease, so it has taken it back or is being killed, when a
/// device may lose its regions before its connections.
class LiveEndpoint final : public transport::ForwardingEndpoint {
 public:
  LiveEndpoint(std::unique_ptr<transport::Endpoint> below, std::shared_ptr<Liveness> liveness)
      : ForwardingEndpoint(std::move(below)), liveness_(std::move(liveness)) {}

  Status post(std::span<const transport::ReadRequest> reads) override {
    if (!alive()) return {StatusCode::unavailable, "the memory node is gone"};
    const Status status = below().post(reads);
    note(status.code());
    return status;
  }
  std::size_t poll(std::span<transport::Completion> completions) override {
    if (!alive() && !told_) {
      told_ = true;
      below().peer_lost();
    }
    const std::size_t count = below().poll(completions);
    for (auto& completion : completions.first(count)) note(completion.status);
    if (count > 0 && !alive()) {
      for (auto& completion : completions.first(count)) {
        completion.status = StatusCode::unavailable;
        completion.bytes = 0;
      }
    }
    return count;
  }
  /// 0 when the node is dead: no record can be read then.
  double coverage() const override { return alive() ? below().coverage() : 0; }
  void peer_lost() override { liveness_->alive.store(false, std::memory_order_relaxed); }

 private:
  bool alive() const { return liveness_->alive.load(std::memory_order_relaxed); }
  void note(StatusCode code) {
    if (code != StatusCode::unavailable && code != StatusCode::failed_precondition) return;
    liveness_->alive.store(false, std::memory_order_relaxed);
  }

  std::shared_ptr<Liveness> liveness_;
  bool told_ = false;  ///< whether the endpoint below was told
};

}  // namespace farvec::tiers
