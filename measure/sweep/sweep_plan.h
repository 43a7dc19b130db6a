// Lists the combinations that a sweep measures, and holds what it found for each.
#pragma once

#include <cstdint>
#include <vector>

#include "measure/sweep/pass_samples.h"
#include "search/core/disk_options.h"
#include "search/core/search_core.h"

namespace farvec::measure {

/// Describes one combination.
struct SweepPoint {
  std::size_t group = 0;  ///< the same for points that differ in their tier alone
  std::size_t tier = 0;   ///< number in the list of tiers
  std::uint32_t threads = 1;
  std::uint32_t slots = 16;  ///< 0: to be chosen
  bool auto_slots = false;   ///< whether slots are chosen by measuring what the disk gives
  std::size_t cache_bytes = 0;
  /// What was asked for, unchecked: a combination that cannot run has a row as well.
  search::SearchChoice choice;
  search::DiskChoice disk;  ///< the choice for tier ssd
};

/// Holds everything a user may vary. points() is the full product. The tier varies fastest: the
/// tiers of a group are measured in turn, pass by pass.
struct SweepAxes {
  std::size_t tiers = 1;
  std::vector<std::uint32_t> threads;
  std::vector<std::uint32_t> slots;
  std::vector<std::size_t> cache_bytes;
  std::vector<search::SearchChoice> choices;
  std::vector<search::DiskChoice> disks = {{}};

  std::vector<SweepPoint> points() const;
};

/// Holds what was measured of one point.
struct SweepSamples : PassSamples {
  search::QueryCounts totals;  ///< over `queries` searches, each query once
  std::size_t queries = 0;
  std::size_t core_dram_bytes = 0;
  // These are set where lines are counted: graphs that are not in slotted pages.
  double line_ns = 0;  ///< time of one of the threads for a line, for the bound; 0: not known
  const char* line_ns_source = "";
  double memory_bound_qps = 0;  ///< more is not possible when no line is in a cache; 0: not known
  /// The most that the modelled device can do for this number of threads; 0: there is none.
  double device_bound_qps = 0;
  /// The rate of the same search on dram in the same passes; 0: that was not measured.
  double compute_bound_qps = 0;
  /// `qps` divided by the rates of dram, pass by pass; empty: that was not measured.
  std::vector<double> compute_bound_shares;
  // These are for tier ssd only.
  std::size_t memory_bytes = 0;  ///< everything that its budget bounds
  std::uint64_t io_reads = 0;    ///< reads of the disk by the same searches
  std::uint64_t io_bytes = 0;    ///< bytes of these reads, in whole blocks
  std::size_t warm_queries = 0;  ///< searched before each pass, to fill the pool
};

}  // namespace farvec::measure
