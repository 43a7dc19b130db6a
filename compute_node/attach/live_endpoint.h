// A mapped endpoint that dies with its memory node.
#pragma once

#include <memory>

#include "compute_node/attach/lease_keeper.h"
#include "transport/mapped/mapped_endpoint.h"

namespace farvec::compute_node {

/// Mapped bytes outlive the node that wrote them; this endpoint does not: after the death post()
/// refuses and what is outstanding completes with `unavailable`.
class LiveEndpoint final : public transport::Endpoint {
 public:
  LiveEndpoint(std::shared_ptr<const transport::RegionSet> regions,
               transport::MappedOptions options, std::shared_ptr<const Liveness> liveness)
      : endpoint_(std::move(regions), std::move(options)), liveness_(std::move(liveness)) {}

  Status post(std::span<const transport::ReadRequest> reads) override {
    if (!alive()) return {StatusCode::unavailable, "the memory node is gone"};
    return endpoint_.post(reads);
  }
  std::size_t poll(std::span<transport::Completion> completions) override {
    const std::size_t count = endpoint_.poll(completions);
    if (count > 0 && !alive()) {
      for (auto& completion : completions.first(count)) {
        completion.status = StatusCode::unavailable;
        completion.bytes = 0;
      }
    }
    return count;
  }
  transport::EndpointLimits limits() const override { return endpoint_.limits(); }
  std::uint64_t region_bytes(transport::RegionId region) const override {
    return endpoint_.region_bytes(region);
  }
  const std::byte* mapped(transport::RegionId region) const override {
    return endpoint_.mapped(region);
  }
  std::string description() const override { return endpoint_.description(); }
  void close() override { endpoint_.close(); }

 private:
  bool alive() const { return liveness_->alive.load(std::memory_order_relaxed); }

  transport::MappedEndpoint endpoint_;
  std::shared_ptr<const Liveness> liveness_;
};

}  // namespace farvec::compute_node
