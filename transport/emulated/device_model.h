// What a modelled device costs: latency, bandwidth, request rate, block size, and of reads of
// unequal size.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

namespace farvec::transport {

/// A read of at most so many bytes interrupts one of at least so many: the small reads of the
/// second-tier memory study (vectors, neighbour lists) and its large ones. Of those in between it
/// says nothing, and they are neither.
inline constexpr std::uint32_t kMostShortBytes = 512;
inline constexpr std::uint32_t kLeastLongBytes = 4096;

/// A read of b bytes takes the link t = (header + ceil(b / block) * block) / bandwidth, occupies
/// the device for max(t, 1 / rate), and is there latency + t after the device was free for it.
///
/// A long read streams. A short one at the same time interrupts a stream, which costs the device
/// `interruption` once: a short read interrupts one stream and a stream is interrupted once, so
/// that n short and m long reads cost min(n, m) interruptions, in whatever order they come.
struct DeviceModel {
  std::string name = "custom";
  double latency_us = 0;
  double bandwidth_gbps = 0;       ///< 10^9 bytes per second
  double requests_per_us = 0;      ///< 10^6 requests per second
  std::uint32_t block_bytes = 64;  ///< smallest unit that the device moves
  /// Of the machine whose device it is: each of them has an equal part of bandwidth and request
  /// rate. 0: the cores that read have all of it, few as they may be.
  std::uint32_t cores = 0;
  std::uint32_t header_bytes = 0;  ///< that a request takes of the link beside what it reads
  double interruption_us = 0;      ///< of a long read by a short one

  double transfer_ns(double bytes) const {
    return (header_bytes + std::ceil(bytes / block_bytes) * block_bytes) / bandwidth_gbps;
  }
  double occupied_ns(double bytes) const {
    return std::max(transfer_ns(bytes), 1e3 / requests_per_us);
  }
  /// Of so many short and long reads together, beside what each of them occupies.
  double interruptions_ns(double short_reads, double long_reads) const {
    return std::min(short_reads, long_reads) * interruption_us * 1e3;
  }
  /// What it moves in the time that one more request takes.
  std::uint32_t bytes_per_request() const {
    const auto by_rate = static_cast<std::uint32_t>(bandwidth_gbps * 1e3 / requests_per_us);
    return std::max(header_bytes, by_rate);
  }

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
    DeviceModel part = *this;
    part.bandwidth_gbps /= times;
    part.requests_per_us /= times;
    part.interruption_us *= times;
    part.cores = 0;
    return part;
  }

  bool operator==(const DeviceModel&) const = default;
};

/// One of device_presets(): "rdma", "cxl", "nvm", "ssd". Or "latency=5us,bandwidth=10GB/s,
/// rate=50M/s[,block=64][,header=100][,interruption=50ns][,cores=20]", or a preset followed by such
/// values that replace its own: "rdma,latency=10us". A preset with cores alone keeps its name:
/// "rdma,cores=20". Throws Error.
DeviceModel parse_device_model(std::string_view text);

/// "rdma: 2.8 us, 25 GB/s, 100 M reads/s, 64 B blocks, 250 B headers, 150 ns interruptions",
/// without what it has not, and ", 1/20 of it per core".
std::string to_string(const DeviceModel& model);

}  // namespace farvec::transport
