// What a search in flight keeps in DRAM, known before any of it is allocated.
#pragma once

#include <cstddef>
#include <cstdint>

namespace farvec::ssd_baseline {

/// Bytes of a prepared query per dimension: two queries of 8-bit values and their planes, and one
/// of floats.
inline constexpr std::size_t kQueryBytesPerDimension = 32;

struct GraphSearchShape {
  std::uint32_t list = 64;  ///< largest
  std::uint32_t width = 1;  ///< largest
  std::uint32_t max_degree = 0;
  std::uint32_t node_count = 0;
  std::uint32_t dimension = 0;
  std::uint32_t results = 10;  ///< largest
  bool improving = false;      ///< as in graph::BeamScratch::reset()
};

/// Stack, candidate lists and prepared query.
std::size_t graph_search_bytes(const GraphSearchShape& shape);

}  // namespace farvec::ssd_baseline
