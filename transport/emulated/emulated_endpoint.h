// A delay line before another endpoint: what a slower device would do, in real time.
#pragma once

#include <memory>

#include "base/memory.h"
#include "transport/emulated/device.h"
#include "transport/forwarding_endpoint.h"
#include "transport/ring.h"

namespace farvec::transport {

/// Posts reads below at once (which starts the prefetch of mapped bytes, so that the copy at
/// completion does not pay for local memory on top of the model) and lets the completions of as
/// many reads through as the device would have brought by now, those of one post() when the last of
/// them is there. Everything but time is the endpoint's below; when that completes out of order, so
/// does this.
class alignas(kCacheLineBytes) EmulatedEndpoint final : public ForwardingEndpoint {
 public:
  /// `device` is shared by the endpoints of all cores: they compete for one link.
  EmulatedEndpoint(std::unique_ptr<Endpoint> below, std::shared_ptr<Device> device);

  Status post(std::span<const ReadRequest> reads) override;
  std::size_t poll(std::span<Completion> completions) override;
  /// "emulated(rdma: 2.8 us, 25 GB/s, 100 M reads/s, 64 B blocks)".
  std::string description() const override;
  void close() override;

 private:
  /// The reads of one post(), which are there together.
  struct Chain {
    Ticks due = 0;
    std::size_t reads = 0;
  };

  DeviceReader device_;
  std::size_t allowed_ = 0;  ///< reads that are due and have not been polled
  Ring<Chain> chains_;       ///< that the device has not brought yet; due times never descend
};

}  // namespace farvec::transport
