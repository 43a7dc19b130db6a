// RemoteResults collect what the queries of many calls found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dataset/groundtruth.h"
#include "layout/attributes/tuple.h"
#include "rpc/compute_node.pb.h"
#include "search/core/search_core.h"

namespace farvec::client {

struct RemoteResults {
  dataset::GroundTruth neighbors;       ///< the id is kInvalidNode where fewer than k were found
  std::vector<std::uint64_t> user_ids;  ///< with wide ids: every neighbour's, of up to 64 bits
  /// The selected columns of every neighbour; null for those that are missing. None where no
  /// columns were selected.
  layout::Tuples attributes;
  search::QueryCounts totals;
  double coverage = 1;  ///< the least of all queries
};

/// Makes room for the results of `queries` queries, none of which has come. `wide_ids`: with
/// user_ids.
RemoteResults empty_results(std::size_t queries, std::uint32_t k, bool wide_ids);

/// Adds the results of a call whose first query has the number `first`, with their attributes where
/// columns were selected; fault_of() must have found nothing wrong with them. Calls come in the
/// order of their queries. Throws Error where an id has more than 32 bits and `results` has no
/// user_ids.
void add_results(const compute_node::v1::SearchResponse& response, std::size_t first, bool select,
                 RemoteResults& results);

}  // namespace farvec::client
