// Runs a search of a graph and counts its cache lines.
#pragma once

#include "base/status.h"
#include "graph/beam_scratch.h"
#include "search/core/search_core.h"
#include "search/index/graph_index.h"

namespace farvec::search {

/// A CountedSearch has the parts of a counted search. Borrows them.
template <typename Source, typename Scorer>
struct CountedSearch {
  const GraphIndex& index;
  Source& source;
  const Scorer& scorer;
  LineCounts& lines;
};

/// Runs graph::beam_search() from the index's entries and adds to the lines. For the sources of
/// mapped memory and of endpoints, and both scorers. It is in a file of its own because, beside the
/// searches that do not count, it kept the compiler from inlining all of those, which cost 2 to 5%
/// of their rate.
template <typename Source, typename Scorer>
Status search_counting_lines(const CountedSearch<Source, Scorer>& search,
                             const graph::BeamParameters& parameters, graph::BeamScratch& scratch);

}  // namespace farvec::search
