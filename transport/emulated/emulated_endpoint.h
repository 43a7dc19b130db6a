// An EmulatedEndpoint is a delay line in front of another endpoint: it does in real time what a
// slower device would do.
#pragma once

#include <memory>

#include "base/memory.h"
#include "transport/emulated/device.h"
#include "transport/forwarding_endpoint.h"
#include "transport/ring.h"

namespace farvec::transport {

/// Posts reads to the endpoint below at once. That starts the prefetch of mapped bytes, so that the
/// copy at completion does not pay for local memory on top of the model. Then it lets through the
/// completions of as many reads as the device would have brought by now, and those of one post()
/// when the last of them has arrived. Except for time, everything is the endpoint's below; when
/// that completes out of order, so does this one.
class alignas(kCacheLineBytes) EmulatedEndpoint final : public ForwardingEndpoint {
 public:
  /// `device` is shared by the endpoints of all cores, which compete for one link.
  EmulatedEndpoint(std::unique_ptr<Endpoint> below, std::shared_ptr<Device> device);

  Status post(std::span<const ReadRequest> reads) override;
  std::size_t poll(std::span<Completion> completions) override;
  /// Returns "emulated(rdma: 2.8 us, 25 GB/s, 100 M reads/s, 64 B blocks)".
  std::string description() const override;
  void close() override;

 private:
  /// A Chain has the reads of one post(), which arrive together.
  struct Chain {
    Ticks due = 0;
    std::size_t reads = 0;
  };

  DeviceReader device_;
  std::size_t allowed_ = 0;  ///< reads that are due and have not been polled
  Ring<Chain> chains_;  ///< chains that the device has not brought yet; due times never descend
};

}  // namespace farvec::transport
