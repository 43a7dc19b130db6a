// Which combinations a sweep measures, and what it found for each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "search/core/disk_options.h"
#include "search/core/search_core.h"

namespace farvec::measure {

/// One combination.
struct SweepPoint {
  std::size_t group = 0;  ///< the same for points that differ in their tier alone
  std::size_t tier = 0;   ///< number in the list of tiers
  std::uint32_t threads = 1;
  std::uint32_t slots = 16;  ///< 0: to be chosen
  bool auto_slots = false;   ///< chosen by measuring what the disk gives
  std::size_t cache_bytes = 0;
  /// As asked for: a combination that cannot run has a row as well.
  search::SearchChoice choice;
  search::DiskChoice disk;  ///< of ssd
};

/// Everything a user may vary; points() is the full product, tier varying fastest: the tiers of a
/// group are measured in turn, pass by pass.
struct SweepAxes {
  std::size_t tiers = 1;
  std::vector<std::uint32_t> threads;
  std::vector<std::uint32_t> slots;
  std::vector<std::size_t> cache_bytes;
  std::vector<search::SearchChoice> choices;
  std::vector<search::DiskChoice> disks = {{}};

  std::vector<SweepPoint> points() const;
};

/// What was measured of one point.
struct SweepSamples {
  std::vector<double> qps;
  std::vector<double> processor_us;  ///< of the searching threads, per query
  std::vector<double> mean_us;
  std::vector<double> p50_us;
  std::vector<double> p99_us;
  double recall = 0;
  search::QueryCounts totals;  ///< over `queries` searches, each query once
  std::size_t queries = 0;
  std::size_t core_dram_bytes = 0;
  // Where lines are counted: graphs that are not in slotted pages.
  double line_ns = 0;  ///< of one of the threads, for the bound; 0: not known
  const char* line_ns_source = "";
  double memory_bound_qps = 0;  ///< more is not possible when no line is in a cache; 0: not known
  /// More the modelled device does not bring to so many threads; 0: there is none.
  double device_bound_qps = 0;
  /// What the same search did on dram in the same passes; 0: that was not measured.
  double compute_bound_qps = 0;
  /// Of `qps`, over those of dram, pass by pass; empty: that was not measured.
  std::vector<double> compute_bound_shares;
  // Tier ssd only, except for `failure`.
  std::size_t memory_bytes = 0;  ///< everything that its budget bounds
  std::uint64_t io_reads = 0;    ///< of the disk, by the same searches
  std::uint64_t io_bytes = 0;    ///< whole blocks
  std::size_t warm_queries = 0;  ///< searched before each pass, to fill the pool
  std::string failure;           ///< why it cannot run; empty: it ran
};

}  // namespace farvec::measure
