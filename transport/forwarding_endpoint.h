// A ForwardingEndpoint is the base of endpoints that stand in front of another endpoint.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "transport/endpoint.h"

namespace farvec::transport {

/// Passes every call on to the endpoint below, which it owns. A decorator derives from it and
/// overrides only what it changes.
class ForwardingEndpoint : public Endpoint {
 public:
  void register_memory(std::span<std::byte> memory) override { below_->register_memory(memory); }
  Status post(std::span<const ReadRequest> reads) override { return below_->post(reads); }
  std::size_t poll(std::span<Completion> completions) override { return below_->poll(completions); }
  EndpointLimits limits() const override { return below_->limits(); }
  std::uint64_t region_bytes(RegionId region) const override {
    return below_->region_bytes(region);
  }
  EndpointUse use() const override { return below_->use(); }
  std::string description() const override { return below_->description(); }
  double coverage() const override { return below_->coverage(); }
  void peer_lost() override { below_->peer_lost(); }
  void close() override { below_->close(); }

 protected:
  explicit ForwardingEndpoint(std::unique_ptr<Endpoint> below) : below_(std::move(below)) {}
  Endpoint& below() { return *below_; }
  const Endpoint& below() const { return *below_; }

 private:
  const std::unique_ptr<Endpoint> below_;
};

}  // namespace farvec::transport
