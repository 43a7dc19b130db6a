// Parameters, counts and working memory of one search of a graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/row_set.h"
#include "base/types.h"
#include "graph/candidate_list.h"
#include "graph/candidate_reserve.h"
#include "graph/estimate_table.h"
#include "graph/limits.h"
#include "graph/visited_filter.h"

namespace farvec::graph {

struct BeamParameters {
  std::uint32_t k = 10;     ///< results kept, by exact distance
  std::uint32_t list = 64;  ///< L: candidates kept, by estimate; >= k
  /// W: records fetched per hop, 1 to kMaxWidth; of a cache-aware search B, candidates it chooses
  /// from.
  std::uint32_t width = 1;
  std::uint32_t max_degree = 0;  ///< of the graph
  std::uint32_t node_count = 0;  ///< of the graph; a neighbour id beyond it is corruption
  /// Nearest candidates that are prefetched before every hop, up to kMaxWidth; for a CachedSource.
  std::uint32_t prefetch = 0;
  /// Rows that are no results, though the search goes through their vertices as through others;
  /// null: all may be. They take no places in the list once they have been read.
  const RowSet* out = nullptr;
  NodeId rows_end = kInvalidNode;  ///< rows from this one on are out too
  /// A search that has read so many vertices that are out ends: see BeamScratch::cut_short.
  std::uint32_t most_passed = std::numeric_limits<std::uint32_t>::max();

  bool passes() const { return rows_end != kInvalidNode || (out != nullptr && !out->empty()); }
};

struct BeamCounts {
  std::uint32_t hops = 0;
  std::uint32_t estimates = 0;
  std::uint32_t distances = 0;
  std::uint32_t passed = 0;  ///< vertices that were read and are out
  // Cache-aware searches only.
  std::uint32_t pivots = 0;  ///< hops to a resident candidate that was not the nearest
  std::uint32_t stalls = 0;  ///< hops that began with none of the candidates resident
};

/// One search's working memory, reused between searches; grows to the largest parameters seen.
struct BeamScratch {
  CandidateList candidates;
  CandidateList results;     ///< the answer: nearest first, exact distances
  VisitedFilter visited;     ///< of a search whose estimates do not depend on the way
  EstimateTable estimated;   ///< of one whose estimates do
  CandidateReserve reserve;  ///< of a search that passes vertices that are out, and those
  bool cut_short = false;    ///< parameters.most_passed has ended it: there may be nearer ones
  std::vector<NodeId> pending;
  std::vector<float> estimates;
  BeamCounts counts;

  /// `improving`: another way to a vertex may bring a lower estimate of it.
  void reset(const BeamParameters& parameters, bool improving);
  std::size_t dram_bytes() const {
    return candidates.dram_bytes() + results.dram_bytes() + visited.dram_bytes() +
           estimated.dram_bytes() + reserve.dram_bytes() +
           pending.capacity() * (sizeof(NodeId) + sizeof(float));
  }
};

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
  bool improving = false;      ///< as in BeamScratch::reset()
};

/// What a search in flight keeps in DRAM, known before any of it is allocated: its stack of
/// `stack_bytes`, its working memory and its prepared query.
std::size_t graph_search_bytes(const GraphSearchShape& shape, std::size_t stack_bytes);

}  // namespace farvec::graph
