// cache_aware_search() is best-first search that goes on with what is in memory while the disk
// brings the rest.
#pragma once

#include <cstdint>
#include <span>

#include "base/status.h"
#include "graph/expansion.h"

namespace farvec::graph {

/// Runs the loop of cache_aware_search(), over a scratch that has been reset.
template <Passing kPassing, CachedSource Source, NodeScorer Scorer>
Status expand_resident(Source& source, const Scorer& scorer, std::span<const NodeId> entries,
                       const BeamParameters& parameters, BeamScratch& scratch) {
  Expansion<Source, Scorer, kPassing> expansion(source, scorer, parameters, scratch);
  CandidateList& candidates = scratch.candidates;
  expansion.seed(entries);
  while (!expansion.ended()) {
    CandidateList::Position ahead[kMaxWidth];
    const std::uint32_t count = candidates.peek_fresh({ahead, parameters.width});
    if (count == 0) return {};
    std::uint32_t chosen = 0;
    while (chosen < count && !source.resident(candidates[ahead[chosen]].id)) {
      source.prefetch(candidates[ahead[chosen++]].id);
    }
    if (chosen == count) {
      ++scratch.counts.stalls;
      chosen = 0;
    } else if (chosen > 0) {
      ++scratch.counts.pivots;
    }
    const NodeId id = candidates.take(ahead[chosen]);
    if (Status status = expansion.expand({&id, 1}); !status.ok()) return status;
  }
  return {};
}

/// Works like beam_search() with one record per hop. It takes the nearest unexpanded candidate when
/// that is resident. Otherwise it takes the nearest resident one of the parameters.width nearest,
/// and prefetches those before it. When none of them is resident, all are prefetched and the search
/// waits for the nearest (VeloANN, algorithm 2). When everything is resident it does what
/// beam_search() does with a width of 1. A source that stops being resident in between costs a
/// suspension, nothing else.
template <CachedSource Source, NodeScorer Scorer>
Status cache_aware_search(Source& source, const Scorer& scorer, std::span<const NodeId> entries,
                          const BeamParameters& parameters, BeamScratch& scratch) {
  scratch.reset(parameters, false);
  if (parameters.passes()) {
    return expand_resident<Passing::found>(source, scorer, entries, parameters, scratch);
  }
  return expand_resident<Passing::none>(source, scorer, entries, parameters, scratch);
}

}  // namespace farvec::graph
