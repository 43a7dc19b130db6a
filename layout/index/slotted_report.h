// A SlottedReport says what slotted pages hold, counted from their bytes.
#pragma once

#include <cstdint>

#include "layout/index/index_directory.h"
#include "layout/index/index_report.h"

namespace farvec::layout {

struct SlottedReport {
  std::uint64_t pages = 0;
  std::uint64_t records = 0;
  std::uint32_t least_records = 0;  ///< fewest records of any page
  std::uint32_t most_records = 0;
  // These are bytes of all pages, and add up to pages * page_bytes.
  std::uint64_t header_bytes = 0;
  std::uint64_t slot_bytes = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t neighbor_bytes = 0;  ///< lists and degrees
  std::uint64_t free_bytes = 0;
  std::uint64_t colored = 0;  ///< records with a color other than 0
  /// OR(G) of Starling (SIGMOD 2024): see page_overlap().
  double overlap = 0;
  DegreeReport degree;

  std::uint64_t bytes() const {
    return header_bytes + slot_bytes + payload_bytes + neighbor_bytes + free_bytes;
  }
  double utilisation() const { return 1 - fragmentation(); }
  double fragmentation() const {
    return static_cast<double>(free_bytes) / static_cast<double>(bytes());
  }
  double records_per_page() const {
    return static_cast<double>(records) / static_cast<double>(pages);
  }
};

/// Reads every page and decodes every record. Throws Error naming the page when one is damaged,
/// does not agree with the page map, or names a vertex that does not exist, and when the pages
/// together do not hold the manifest's vertices and edges.
SlottedReport slotted_report(const IndexDirectory& index, const LoadOptions& options = {});

}  // namespace farvec::layout
