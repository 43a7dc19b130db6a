// Computes what an index costs, in any layout, from its manifest and its degrees.
#pragma once

#include <cstdint>
#include <vector>

#include "layout/graph/offset_table.h"
#include "layout/index/index_directory.h"
#include "layout/index/manifest.h"

namespace farvec::layout {

/// A LayoutCost is the cost of an index in one layout. Bytes count whole regions, headers included.
struct LayoutCost {
  LayoutKind layout = LayoutKind::csr;
  std::uint64_t records_bytes = 0;  ///< on the memory node, which searches read
  std::uint64_t codes_bytes = 0;
  /// 0 for padded, whose addresses are computed; for slotted pages the page map and the graph of
  /// entries.
  std::uint64_t offsets_bytes = 0;
  std::uint64_t vectors_bytes = 0;           ///< on the SSD beside slotted pages, for re-ranking
  std::uint64_t second_copy_bytes = 0;       ///< for an index of fewer bits than its data
  double amplification = 0;                  ///< records_bytes over the data set's bytes
  double total_amplification = 0;            ///< total_bytes() over the data set's bytes
  double compute_dram_bytes_per_vector = 0;  ///< codes and offsets

  std::uint64_t total_bytes() const {
    return records_bytes + codes_bytes + offsets_bytes + vectors_bytes + second_copy_bytes;
  }
};

/// Returns the exact cost that the index would have in `layout`, computed without files in that
/// layout. For slotted and packed only when the index has that layout.
LayoutCost layout_cost(const Manifest& manifest, LayoutKind layout);

struct DegreeReport {
  /// Histogram[d] vertices have degree d; up to the largest degree.
  std::vector<std::uint64_t> histogram;
  std::uint32_t least = 0;
  std::uint32_t p50 = 0;
  std::uint32_t p90 = 0;
  std::uint32_t p99 = 0;
  std::uint32_t most = 0;
  double mean = 0;
};

/// For a graph whose table counts edges; count() > 0.
DegreeReport degree_report(const OffsetTable& table);
/// Reports on a graph that is not in slotted pages: from its table or, when packed, from its
/// records, which are read. Throws Error when a region cannot be read, and for a record that cannot
/// be parsed.
DegreeReport degree_report(const IndexDirectory& index);
/// From a histogram of at least one vertex; it may have degrees above the largest that occurs.
DegreeReport degree_report(std::vector<std::uint64_t> histogram);

}  // namespace farvec::layout
