// Searches some or all rows of a graph by comparing each of them with the query.
#pragma once

#include "base/status.h"
#include "graph/beam_scratch.h"
#include "search/core/search_core.h"
#include "search/index/graph_index.h"

namespace farvec::search {

/// A GraphScan has the parts of a search of given rows. Borrows them.
template <typename Source, typename Scorer>
struct GraphScan {
  const GraphIndex& index;
  Source& source;  ///< has begun the search
  typename Scorer::Prepared& prepared;
  graph::BeamScratch& scratch;
};

/// Compares the rows request.only with the query, or all rows where it names none, and leaves the
/// nearest in scan.scratch.results.
/// For the sources of mapped memory and of endpoints, and both scorers. It is in a file of its own,
/// beside search_counting_lines() and for the same reason.
template <typename Source, typename Scorer>
Status scan_graph(const GraphScan<Source, Scorer>& scan, const SearchRequest& request,
                  QueryCounts& counts);

}  // namespace farvec::search
