// PoolCounts say what a buffer pool has done for one core or one search.
#pragma once

#include <cstdint>

namespace farvec::slotted {

/// Every record that is asked for is a hit or a miss; those that come along are neither.
struct PoolCounts {
  std::uint64_t hits = 0;    ///< records that were in memory when they were asked for
  std::uint64_t misses = 0;  ///< records that had to be waited for
  // The next two are parts of the misses, the others are not.
  std::uint64_t shared = 0;      ///< misses that waited for a read that was under way
  std::uint64_t bypasses = 0;    ///< misses that found no slot: read for one search, and not kept
  std::uint64_t reads = 0;       ///< pages that were read from the disk, prefetches included
  std::uint64_t prefetches = 0;  ///< reads for which no search waited at first
  std::uint64_t skipped_prefetches = 0;  ///< left out, because there was no slot or buffer
  std::uint64_t along = 0;  ///< records that were used from a page that came for another one
  std::uint64_t kept = 0;   ///< records that were not asked for, kept with one of their page
  std::uint64_t evictions = 0;

  double hit_rate() const {
    const std::uint64_t all = hits + misses;
    return all == 0 ? 0 : static_cast<double>(hits) / static_cast<double>(all);
  }

  PoolCounts& operator+=(const PoolCounts& other) {
    hits += other.hits;
    misses += other.misses;
    shared += other.shared;
    bypasses += other.bypasses;
    reads += other.reads;
    prefetches += other.prefetches;
    skipped_prefetches += other.skipped_prefetches;
    along += other.along;
    kept += other.kept;
    evictions += other.evictions;
    return *this;
  }
  /// Returns what was counted after `earlier`, a former value of the same counts.
  PoolCounts operator-(const PoolCounts& earlier) const {
    PoolCounts result = *this;
    result.hits -= earlier.hits;
    result.misses -= earlier.misses;
    result.shared -= earlier.shared;
    result.bypasses -= earlier.bypasses;
    result.reads -= earlier.reads;
    result.prefetches -= earlier.prefetches;
    result.skipped_prefetches -= earlier.skipped_prefetches;
    result.along -= earlier.along;
    result.kept -= earlier.kept;
    result.evictions -= earlier.evictions;
    return result;
  }
};

}  // namespace farvec::slotted
