// select_neighbors() chooses the neighbours of a vertex of an HNSW graph among candidates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "graph/hnsw/layer_scratch.h"

namespace farvec::graph {

/// Indexes of candidates: the chosen ones in the order in which they were chosen, and those that
/// were not.
struct Selection {
  std::vector<std::uint32_t> chosen;
  std::vector<std::uint32_t> pruned;

  std::size_t dram_bytes() const {
    return (chosen.capacity() + pruned.capacity()) * sizeof(std::uint32_t);
  }
};

struct SelectionRule {
  std::uint32_t limit = 0;  ///< most neighbours
  float self = 0;           ///< the distance of the vertex to itself, as computed by the kernel
};

/// Chooses among `candidates`, nearest first. A candidate is taken unless a taken one is at least
/// as near to it as the vertex is (Malkov and Yashunin, algorithm 4). Places left over go to the
/// nearest of those that were not taken, as in pgvector. between(i, j) is the distance of two
/// candidates.
///
/// A duplicate of the vertex has no direction: it stands for other duplicates only, so that equal
/// vectors do not keep all their edges to themselves.
template <typename Between>
void select_neighbors(std::span<const Candidate> candidates, const SelectionRule& rule,
                      Between&& between, Selection& selection) {
  auto& chosen = selection.chosen;
  auto& pruned = selection.pruned;
  chosen.clear();
  pruned.clear();
  const auto taken_stands_for = [&](std::uint32_t i) {
    for (const std::uint32_t taken : chosen) {
      if (candidates[taken].distance <= rule.self && candidates[i].distance > rule.self) continue;
      if (between(taken, i) <= candidates[i].distance) return true;
    }
    return false;
  };
  for (std::uint32_t i = 0; i < candidates.size() && chosen.size() < rule.limit; ++i) {
    (taken_stands_for(i) ? pruned : chosen).push_back(i);
  }
  std::size_t next = 0;
  while (chosen.size() < rule.limit && next < pruned.size()) chosen.push_back(pruned[next++]);
}

}  // namespace farvec::graph
