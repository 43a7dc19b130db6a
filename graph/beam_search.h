// beam_search() is best-first search with a beam over any NodeSource and any scorer.
#pragma once

#include <cstdint>
#include <span>

#include "base/status.h"
#include "graph/expansion.h"

namespace farvec::graph {

/// Runs the loop of beam_search(), over a scratch that has been reset.
template <Passing kPassing, NodeSource Source, typename Scorer>
Status expand_nearest(Source& source, const Scorer& scorer, std::span<const NodeId> entries,
                      const BeamParameters& parameters, BeamScratch& scratch) {
  Expansion<Source, Scorer, kPassing> expansion(source, scorer, parameters, scratch);
  NodeId frontier[kMaxWidth];
  constexpr bool kKnown = kPassing == Passing::known;
  const std::uint32_t passing_width = kKnown ? parameters.passing_width() : 0;
  expansion.seed(entries);
  while (!expansion.ended()) {
    if constexpr (CachedSource<Source>) {
      CandidateList::Position ahead[kMaxWidth];
      const auto count = scratch.candidates.peek_fresh({ahead, parameters.prefetch});
      for (std::uint32_t i = 0; i < count; ++i) source.prefetch(scratch.candidates[ahead[i]].id);
    }
    const bool wide = kKnown && scratch.candidates.full();
    const std::uint32_t width = wide ? passing_width : parameters.width;
    const std::uint32_t taken = expansion.take_next({frontier, width});
    if (taken == 0) return {};
    if (Status status = expansion.expand({frontier, taken}); !status.ok()) return status;
  }
  return {};
}

/// Searches from `entries`. Each hop takes the `width` nearest unexpanded candidates, fetches their
/// records, scores each record's own vector exactly, and estimates the neighbours not seen before.
/// The search ends when the `list` nearest estimated candidates are all expanded (Subramanya et
/// al., DiskANN, NeurIPS 2019, algorithm 1). It suspends where the source does. Returns the
/// source's error, or data_loss for a record that names a vertex that does not exist;
/// scratch.results then holds what was found until then. A vertex whose row is out steers the
/// search, and gives its place in the list back when it has been read; where
/// parameters.out_vertices tells beforehand, it has none. The search then ends when
/// the `list` nearest vertices that are not out are expanded, or all of these were found, or
/// parameters.most_passed vertices that are out were read (scratch.cut_short). It reads at most
/// that many vertices more than a search without them. Where parameters.out_vertices tells which
/// these are and most are out, hops are wider once `list` vertices that are not out are known
/// (BeamParameters::passing_width()).
///
/// Over a CachedSource, parameters.prefetch of the nearest candidates are prefetched before each
/// hop (VeloANN section 4.1).
template <NodeSource Source, typename Scorer>
requires NodeScorer<Scorer> || NeighborScorer<Scorer> Status
beam_search(Source& source, const Scorer& scorer, std::span<const NodeId> entries,
            const BeamParameters& parameters, BeamScratch& scratch) {
  scratch.reset(parameters, NeighborScorer<Scorer>);
  if (parameters.passes()) {
    // An estimate that is in the record may change, so that no bound follows from it.
    if constexpr (ListSource<Source> && NodeScorer<Scorer>) {
      if (parameters.knows_out()) {
        return expand_nearest<Passing::known>(source, scorer, entries, parameters, scratch);
      }
    }
    return expand_nearest<Passing::found>(source, scorer, entries, parameters, scratch);
  }
  return expand_nearest<Passing::none>(source, scorer, entries, parameters, scratch);
}

}  // namespace farvec::graph
