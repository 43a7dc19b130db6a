// Describes what an index is to be read from: a model of a device, or a disk that was measured
// here.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "disk/disk_file.h"
#include "transport/emulated/device_model.h"

namespace farvec::measure {

/// Says what reads of one size cost on a disk that was measured, in the median pass.
struct ReadCost {
  double bytes = 0;
  double occupied_ns = 0;  ///< time for which each occupies the disk, with as many in flight as
                           ///< searches have
  double kernel_ns = 0;    ///< time of the core that reads, for each
  double fastest = 1;      ///< the fastest pass, as a multiple of occupied_ns
  double slowest = 1;
};

/// Says what reads of each size cost when `reads` of them go out, and are waited for, together.
struct TogetherCosts {
  double reads = 1;
  std::vector<ReadCost> sizes;  ///< ascending
};

/// Names one of the passes.
enum class Pace : std::uint8_t { median, fastest, slowest };

/// Says which share of the disk's best rate `depth` reads in flight bring.
struct DepthShare {
  double depth = 1;  ///< reads in flight of each core
  double share = 1;
};

/// Describes a device in the terms of a model. For a disk it also has what was measured.
struct AdviceDevice {
  transport::DeviceModel model;
  std::vector<ReadCost> measured;   ///< ascending sizes; none: a model
  std::uint32_t depth = 1;          ///< reads in flight that bring nearly the best rate
  std::vector<DepthShare> shallow;  ///< ascending depths below that
  /// One entry per number of reads, from 2 on and ascending. In `measured`, by contrast, each read
  /// is followed by another as soon as it has come.
  std::vector<TogetherCosts> together = {};
  double copy_ns_per_byte = 0;  ///< time of the core that reads, for a copy from where reads arrive
                                ///< to a lane
  std::shared_ptr<const disk::DiskFile> file = nullptr;  ///< the file that was read; null: a model

  bool is_measured() const { return !measured.empty(); }
  /// Returns true for a device that is read in sectors; an index on it may be in slotted pages.
  bool is_disk() const { return is_measured() || model.block_bytes >= 512; }
  /// Returns for how many nanoseconds a read of `bytes` occupies the device when `reads` of them
  /// are waited for together. It interpolates linearly over sizes, and over the logarithm of the
  /// number of reads.
  double occupied_ns(double bytes, double reads = 1) const;
  /// Returns the share of its best rate that the device reaches with `in_flight` reads of each core
  /// in flight; 1 for a model.
  double rate_share(double in_flight) const;
  /// Returns how many nanoseconds of the core that reads the kernel takes for a read of `bytes`,
  /// beside what every endpoint takes; 0 for a model.
  double kernel_ns(double bytes, double reads = 1) const;
  /// Returns how many nanoseconds of that core it takes to copy `bytes` to the search. Slotted
  /// pages are not copied: they are read where they are used.
  double copy_ns(double bytes) const { return bytes * copy_ns_per_byte; }
  /// Returns the device as fast, or as slow, as it was in the pass that `pace` names.
  AdviceDevice at(Pace pace) const;
};

/// Returns text like "rdma: 2.8 us, 25 GB/s, 100 M reads/s, 64 B blocks (a model)" or "ssd:/data:
/// 92 us, 1.9 GB/s, 0.11 M reads/s, 512 B blocks (measured here)".
std::string to_string(const AdviceDevice& device);

/// Names a device in the terms of a command line; it is not measured yet.
struct DeviceChoice {
  transport::DeviceModel model;
  std::string disk;  ///< path of a disk that is to be measured; empty: a model
};

/// Reads "rdma", "cxl", "nvm", "ssd", "KEY=VALUE,..." as transport::parse_device_model() takes
/// them, a file with the same words, one to a line or several, '#' before a remark; or "ssd:PATH",
/// a disk of this machine. Throws Error.
DeviceChoice read_device(const std::string& text);

}  // namespace farvec::measure
