// What a modelled device costs: latency, bandwidth, request rate, block size.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace farvec::transport {

/// A read of b bytes occupies the link for max(ceil(b / block) * block / bandwidth, 1 / rate) and
/// is there latency + ceil(b / block) * block / bandwidth after the link was free for it.
struct DeviceModel {
  std::string name = "custom";
  double latency_us = 0;
  double bandwidth_gbps = 0;       ///< 10^9 bytes per second
  double requests_per_us = 0;      ///< 10^6 requests per second
  std::uint32_t block_bytes = 64;  ///< smallest unit that the device moves
  /// Of the machine whose device it is: each of them has an equal part of bandwidth and request
  /// rate. 0: the cores that read have all of it, few as they may be.
  std::uint32_t cores = 0;

  /// So near that a processor waits for its loads (CXL, persistent memory): bytes are used where
  /// they lie. Farther devices deliver into a buffer.
  bool reached_by_loads() const { return latency_us < 1.0; }

  /// How many times as long a read occupies the part of the device that so many reading cores have.
  double slowdown(std::uint32_t readers) const {
    return cores > readers ? static_cast<double>(cores) / (readers > 0 ? readers : 1) : 1.0;
  }
  /// That part as a device of its own.
  DeviceModel part_of(std::uint32_t readers) const {
    const double times = slowdown(readers);
    return {name, latency_us, bandwidth_gbps / times, requests_per_us / times, block_bytes, 0};
  }

  bool operator==(const DeviceModel&) const = default;
};

/// "rdma", "cxl", "nvm", "ssd": latency and bandwidth from Table 1 of the second-tier memory study.
/// Request rates and blocks, which the table lacks:
///   rdma  100 M/s,  64 B: a 200 Gb/s ConnectX-6 peaks at about 110 M small reads a second
///   cxl   500 M/s,  64 B: cache lines at full bandwidth
///   nvm   234 M/s, 256 B: the medium's own 256 B lines at full bandwidth
///   ssd   1.3 M/s, 512 B: 4 KiB reads at full bandwidth, the most a device of its class completes
/// Or "latency=5us,bandwidth=10GB/s,rate=50M/s[,block=64][,cores=20]" with all but block and cores
/// required, or a preset followed by such values that replace its own: "rdma,latency=10us". A
/// preset with cores alone keeps its name: "rdma,cores=20". Throws Error.
DeviceModel parse_device_model(std::string_view text);

/// "rdma: 2.8 us, 25 GB/s, 100 M reads/s, 64 B blocks", and ", 1/20 of it per core".
std::string to_string(const DeviceModel& model);

}  // namespace farvec::transport
