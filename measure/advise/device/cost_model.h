// Says what a search costs, and so how many searches a core and a device serve each second:
// equations 1 to 3 of the second-tier memory study, with computation as a third bound.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "measure/advise/device/device.h"

namespace farvec::measure {

/// Says how many reads of one kind there are per query, and how many bytes they have together.
struct ReadKind {
  double reads = 0;
  double bytes = 0;

  double mean_bytes() const { return reads > 0 ? bytes / reads : 0; }
};

inline constexpr std::uint32_t kLeastSlots = 8;
inline constexpr std::uint32_t kMostSlots = 256;

/// Says what one query does, on average.
struct QueryWork {
  /// Records of a graph; or groups, lists and strays of clusters. The kinds differ in size.
  std::array<ReadKind, 3> kinds;
  double waits = 0;       ///< times that a search waits for reads, one wait after another
  double compute_ns = 0;  ///< time of one core, which includes posting and completing the reads
  std::uint32_t most_slots = kMostSlots;  ///< slots per core that there is memory for
  double kernel_ns = 0;  ///< the part of compute_ns that the kernel takes for the reads of a disk
  double copy_ns = 0;    ///< the part of compute_ns that copying their bytes to the search takes

  double reads() const;
  double bytes() const;
  /// Returns the reads that one search has in flight while it waits.
  double reads_per_wait() const { return waits > 0 ? reads() / waits : reads(); }
};

/// Says what keeps the throughput from being higher.
enum class Bound : std::uint8_t { computation, bandwidth, request_rate, latency };

/// Returns "computation", "bandwidth", "request rate" or "latency".
std::string_view to_string(Bound bound);

struct Prediction {
  double computation_qps = 0;   ///< all cores busy
  double bandwidth_qps = 0;     ///< the link moves bytes all the time
  double request_rate_qps = 0;  ///< the device begins reads as fast as it can
  double device_qps = 0;        ///< each read takes the longer of its two times
  double qps = 0;               ///< with `slots` searches in flight on each core
  double qps_least = 0;         ///< the same with a measured disk as slow as in its slowest pass
  double qps_most = 0;  ///< the same with it as fast as in its fastest pass; both equal `qps` for
                        ///< a model
  Bound bound = Bound::computation;
  std::uint32_t slots = 1;  ///< per core, to hide the waits
  double alone_us = 0;      ///< latency of a search that has core and device for itself
};

/// Predicts what `threads` cores that share the device do. A read occupies a modelled device for
/// the time that transport::DeviceModel says, plus the interruptions of kinds of long reads by
/// kinds of short ones. It occupies a measured disk for the time that reads of its size took there
/// when as many went out together. The slots are a power of two from kLeastSlots to kMostSlots:
/// twice what the mean search needs, since searches differ in length. Where a measured disk binds,
/// they are as many as keep the disk's depth of reads in flight. They are fewer where there is no
/// memory for them.
Prediction predict(const QueryWork& work, const AdviceDevice& device, std::uint32_t threads);

}  // namespace farvec::measure
