// Declares the parameters, counts and working memory of one search of a graph.
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
  /// W: records fetched per hop, 1 to kMaxWidth. For a cache-aware search it is B, the number of
  /// candidates that it chooses from.
  std::uint32_t width = 1;
  std::uint32_t max_degree = 0;  ///< largest degree in the graph
  /// Vertices of the graph; a neighbour id at or beyond it is corruption.
  std::uint32_t node_count = 0;
  /// Nearest candidates that are prefetched before every hop, up to kMaxWidth; for a CachedSource.
  std::uint32_t prefetch = 0;
  /// Rows that are not results, though the search goes through their vertices as through others;
  /// null: every row may be a result. They take no places in the list once they have been read.
  const RowSet* out = nullptr;
  NodeId rows_end = kInvalidNode;  ///< rows from this one on are out too
  /// Vertices that are known to be out before they are read, so that a ListSource brings their
  /// neighbours alone; null: none is known. Each one's row is in `out`.
  const RowSet* out_vertices = nullptr;
  /// A search that has read this many vertices that are out ends: see BeamScratch::cut_short.
  std::uint32_t most_passed = std::numeric_limits<std::uint32_t>::max();

  /// Returns how many records a hop fetches once a search knows `list` vertices that are not out.
  /// Where most are out, half of `width` of these records may be expected to be wanted. All of them
  /// would be read in any case, one hop after the other.
  std::uint32_t passing_width() const;

  /// Says whether it is known of every vertex whether it is out.
  bool knows_out() const { return out_vertices != nullptr && rows_end == kInvalidNode; }
  bool passes() const { return rows_end != kInvalidNode || (out != nullptr && !out->empty()); }
};

struct BeamCounts {
  std::uint32_t hops = 0;
  std::uint32_t estimates = 0;
  std::uint32_t distances = 0;
  std::uint32_t passed = 0;  ///< vertices that were read and are out
  // These are counted by cache-aware searches only.
  std::uint32_t pivots = 0;  ///< hops to a resident candidate that was not the nearest
  std::uint32_t stalls = 0;  ///< hops that began with none of the candidates resident
};

/// A BeamScratch is the working memory of one search, reused between searches; grows to the largest
/// parameters seen.
struct BeamScratch {
  CandidateList candidates;
  CandidateList results;    ///< the answer: nearest first, exact distances
  VisitedFilter visited;    ///< for a search whose estimates do not depend on the way to a vertex
  EstimateTable estimated;  ///< for a search whose estimates depend on it
  /// For a search that passes vertices that are out; also holds those vertices.
  CandidateReserve reserve;
  bool cut_short = false;  ///< parameters.most_passed ended the search: nearer results may exist
  std::vector<NodeId> pending;
  std::vector<float> estimates;
  BeamCounts counts;

  /// `improving`: another way to a vertex may bring a lower estimate for it.
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
  std::uint32_t list = 64;  ///< largest list of a search
  std::uint32_t width = 1;  ///< largest width
  std::uint32_t max_degree = 0;
  std::uint32_t node_count = 0;
  std::uint32_t dimension = 0;
  std::uint32_t results = 10;  ///< largest number of results
  bool improving = false;      ///< see BeamScratch::reset()
};

/// Returns the DRAM that a search in flight keeps: its stack of `stack_bytes`, its working memory
/// and its prepared query. It is known before any of it is allocated.
std::size_t graph_search_bytes(const GraphSearchShape& shape, std::size_t stack_bytes);

}  // namespace farvec::graph
