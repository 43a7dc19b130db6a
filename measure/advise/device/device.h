// What an index is to be read from: a model of a device, or a disk that was measured here.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "disk/disk_file.h"
#include "transport/emulated/device_model.h"

namespace farvec::measure {

/// Reads of one size on a disk that was measured: the median pass.
struct ReadCost {
  double bytes = 0;
  double occupied_ns = 0;  ///< of the disk by each, with as many in flight as searches have
  double kernel_ns = 0;    ///< of the core that reads, for each
  double fastest = 1;      ///< of the passes, as a multiple of occupied_ns
  double slowest = 1;
};

/// What reads of each size cost of which so many go out, and are waited for, together.
struct TogetherCosts {
  double reads = 1;
  std::vector<ReadCost> sizes;  ///< ascending
};

/// Which of the passes.
enum class Pace : std::uint8_t { median, fastest, slowest };

/// What so many reads in flight bring of the disk's best rate.
struct DepthShare {
  double depth = 1;  ///< of each core
  double share = 1;
};

/// A device in the terms of a model, and of a disk what was measured.
struct AdviceDevice {
  transport::DeviceModel model;
  std::vector<ReadCost> measured;   ///< ascending sizes; none: a model
  std::uint32_t depth = 1;          ///< reads in flight that bring nearly the best rate
  std::vector<DepthShare> shallow;  ///< ascending depths below that
  /// Ascending numbers of reads, from 2 on; each read of `measured` is followed by another as soon
  /// as it has come.
  std::vector<TogetherCosts> together = {};
  double copy_ns_per_byte = 0;  ///< of the core that reads: from where reads arrive to a lane
  std::shared_ptr<const disk::DiskFile> file = nullptr;  ///< that was read; null: a model

  bool is_measured() const { return !measured.empty(); }
  /// Disks are read in sectors; an index may lie there in slotted pages.
  bool is_disk() const { return is_measured() || model.block_bytes >= 512; }
  /// Nanoseconds for which a read of so many bytes occupies the device, of so many that are waited
  /// for together: a straight line over sizes, and over the logarithm of their number.
  double occupied_ns(double bytes, double reads = 1) const;
  /// The share of its best rate that the device reaches with so many reads of each core in flight;
  /// 1 for a model.
  double rate_share(double in_flight) const;
  /// Nanoseconds that the kernel takes of the core that reads, for a read of so many bytes, beside
  /// what every endpoint takes; 0 for a model.
  double kernel_ns(double bytes, double reads = 1) const;
  /// The same for copying them to the search; slotted pages are read where they are used.
  double copy_ns(double bytes) const { return bytes * copy_ns_per_byte; }
  /// The device as fast, or as slow, as it was in one of the passes.
  AdviceDevice at(Pace pace) const;
};

/// "rdma: 2.8 us, 25 GB/s, 100 M reads/s, 64 B blocks (a model)"; "ssd:/data: 92 us, 1.9 GB/s,
/// 0.11 M reads/s, 512 B blocks (measured here)".
std::string to_string(const AdviceDevice& device);

/// A device as a command line names it, not measured yet.
struct DeviceChoice {
  transport::DeviceModel model;
  std::string disk;  ///< path of a disk that is to be measured; empty: a model
};

/// "rdma", "cxl", "nvm", "ssd", "KEY=VALUE,..." as transport::parse_device_model() takes them, a
/// file with the same words, one to a line or several, '#' before a remark; or "ssd:PATH", a disk
/// of this machine. Throws Error.
DeviceChoice read_device(const std::string& text);

}  // namespace farvec::measure
