// A DeviceModel says what a modelled device costs: latency, bandwidth, request rate, block size,
// and the cost of reads of unequal size.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

namespace farvec::transport {

/// A read of at most kMostShortBytes interrupts one of at least kLeastLongBytes: the small reads of
/// the second-tier memory study (vectors, neighbour lists) and its large ones. The study says
/// nothing about reads in between, which count as neither.
inline constexpr std::uint32_t kMostShortBytes = 512;
inline constexpr std::uint32_t kLeastLongBytes = 4096;

/// A read of b bytes takes the link t = (header + ceil(b / block) * block) / bandwidth, occupies
/// the device for max(t, 1 / rate), and arrives latency + t after the device was free for it.
///
/// A long read streams. A short one at the same time interrupts a stream, which costs the device
/// `interruption` once: a short read interrupts one stream and a stream is interrupted once. So n
/// short and m long reads cost min(n, m) interruptions, in whatever order they come.
struct DeviceModel {
  std::string name = "custom";
  double latency_us = 0;
  double bandwidth_gbps = 0;       ///< 10^9 bytes per second
  double requests_per_us = 0;      ///< 10^6 requests per second
  std::uint32_t block_bytes = 64;  ///< smallest unit that the device moves
  /// Cores of the device's machine: each of them has an equal part of bandwidth and request rate.
  /// 0: the cores that read share all of it, however few they are.
  std::uint32_t cores = 0;
  /// Bytes that a request takes of the link beside those that it reads.
  std::uint32_t header_bytes = 0;
  double interruption_us = 0;  ///< cost when a short read interrupts a long one

  double transfer_ns(double bytes) const {
    return (header_bytes + std::ceil(bytes / block_bytes) * block_bytes) / bandwidth_gbps;
  }
  double occupied_ns(double bytes) const {
    return std::max(transfer_ns(bytes), 1e3 / requests_per_us);
  }
  /// Returns the cost of the interruptions among this many short and long reads, beside the time
  /// that each of them occupies.
  double interruptions_ns(double short_reads, double long_reads) const {
    return std::min(short_reads, long_reads) * interruption_us * 1e3;
  }
  /// Returns the bytes that it moves in the time that one more request takes.
  std::uint32_t bytes_per_request() const {
    const auto by_rate = static_cast<std::uint32_t>(bandwidth_gbps * 1e3 / requests_per_us);
    return std::max(header_bytes, by_rate);
  }

  /// Says whether the device is so near that a processor waits for its loads (CXL, persistent
  /// memory), so that bytes are used in place. Farther devices deliver into a buffer.
  bool reached_by_loads() const { return latency_us < 1.0; }

  /// Says how many times longer a read takes on the part of the device that `readers` reading cores
  /// have.
  double slowdown(std::uint32_t readers) const {
    return cores > readers ? static_cast<double>(cores) / (readers > 0 ? readers : 1) : 1.0;
  }
  /// Returns that part of the device as a device of its own.
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

/// Parses a model, in one of three forms. The name of one of device_presets(): "rdma", "cxl",
/// "nvm", "ssd". Values, separated by commas: latency=5us, bandwidth=10GB/s, rate=50M/s and, not
/// required, block=64, header=100, interruption=50ns, cores=20. Or a preset followed by values that
/// replace its own: "rdma,latency=10us"; a preset with only cores keeps its name: "rdma,cores=20".
/// Throws Error.
DeviceModel parse_device_model(std::string_view text);

/// Describes a model: "rdma: 2.8 us, 25 GB/s, 100 M reads/s, 64 B blocks, 250 B headers, 150 ns
/// interruptions", without the parts that it does not have, and with ", 1/20 of it per core" where
/// it has cores.
std::string to_string(const DeviceModel& model);

}  // namespace farvec::transport
