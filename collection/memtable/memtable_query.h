// These types are what a search of a memtable is given, what it counts and what it works in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/row_set.h"
#include "base/types.h"
#include "graph/beam_scratch.h"
#include "graph/candidate_list.h"
#include "graph/hnsw/layer_scratch.h"

namespace farvec::collection {

/// It finds 0.99 of the 10 nearest of up to 50 000 rows of the sets in docs/results.
inline constexpr std::uint32_t kMemtableList = 64;

/// The vector and the set are borrowed.
struct MemtableQuery {
  const void* vector = nullptr;  ///< stored form, finite
  std::uint32_t k = 10;
  std::uint32_t list = kMemtableList;  ///< for a search of the graph; raised to k
  std::uint32_t count = 0;             ///< only the rows before this one count; they were published
  const RowSet& out;                   ///< the rows before `count` that do not count, and no others
  bool exact = false;                  ///< compare the query with every row
};

struct MemtableCounts {
  std::uint32_t distances = 0;
  std::uint32_t hops = 0;  ///< lists of neighbours that were read
};

/// One search's working memory, reused between searches; it grows to the size of the largest
/// search.
struct MemtableScratch {
  graph::BeamScratch beam;
  std::vector<NodeId> list;  ///< that of the vertex that is expanded
  std::vector<graph::Candidate>
      met;  ///< rows that count and that a search of the graph has met, nearest first
  graph::CandidateList nearest;
  std::vector<NodeId> ids;
  std::vector<float> scores;
  std::vector<graph::Neighbor> results;
  MemtableCounts counts;  ///< those of the last search

  std::size_t dram_bytes() const {
    return beam.dram_bytes() + list.capacity() * sizeof(NodeId) +
           met.capacity() * sizeof(graph::Candidate) + nearest.dram_bytes() +
           ids.capacity() * sizeof(NodeId) + scores.capacity() * sizeof(float) +
           results.capacity() * sizeof(graph::Neighbor);
  }
};

}  // namespace farvec::collection
