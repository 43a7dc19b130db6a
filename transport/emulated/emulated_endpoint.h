// A delay line before another endpoint: what a slower device would do, in real time.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "transport/emulated/device.h"
#include "transport/endpoint.h"
#include "transport/ring.h"

namespace farvec::transport {

/// Holds every read until the device would have brought it, then posts it to the endpoint below and
/// polls that. The source lines are prefetched at post(), so that the copy at completion does not
/// pay for local memory on top of the model. Everything but time is the endpoint's below.
class EmulatedEndpoint final : public Endpoint {
 public:
  /// `device` is shared by the endpoints of all cores: they compete for one link.
  EmulatedEndpoint(std::unique_ptr<Endpoint> below, std::shared_ptr<Device> device);

  Status post(std::span<const ReadRequest> reads) override;
  std::size_t poll(std::span<Completion> completions) override;
  EndpointLimits limits() const override { return limits_; }
  std::uint64_t region_bytes(RegionId region) const override {
    return below_->region_bytes(region);
  }
  const std::byte* mapped(RegionId region) const override { return below_->mapped(region); }
  /// "emulated(rdma: 2.8 us, 25 GB/s, 100 M reads/s, 64 B blocks)".
  std::string description() const override;
  void close() override;

 private:
  struct Delayed {
    ReadRequest read;
    Ticks ready = 0;
  };
  Status check(std::span<const ReadRequest> reads) const;
  /// Posts what is ready to the endpoint below. When that refuses, the reads end with its status:
  /// returns how many of those it put into `failed`, whose size bounds what is released at all.
  std::size_t release(std::span<Completion> failed);

  std::unique_ptr<Endpoint> below_;
  std::shared_ptr<Device> device_;
  const EndpointLimits limits_;
  Ring<Delayed> delayed_;
  std::vector<Ticks> ready_;           ///< scratch of post()
  std::array<ReadRequest, 32> batch_;  ///< scratch of release()
  std::size_t below_outstanding_ = 0;
  bool closed_ = false;
};

}  // namespace farvec::transport
