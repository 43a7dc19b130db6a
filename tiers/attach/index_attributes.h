// fetch_attributes() brings the attributes of an index that memory nodes serve by itself.
#pragma once

#include <memory>

#include "search/index/search_index.h"
#include "search/kinds/index_loader.h"
#include "tiers/attach/placed_nodes.h"

namespace farvec::tiers {

/// Gives `index`, which came from these nodes, the attributes of its rows, where the nodes hold
/// some, and lets it learn where each row is. The columns are in DRAM then, and the tuples stay on
/// the nodes. Call it outside fibers, before searches begin; it ends soon after `options.stop`
/// becomes true.
///
/// Where the records of a partial set are not all there, and alone say where each row is, the index
/// gets none, which the log says; unless its rows belong to tenants.
///
/// Throws UnreachableError when no node can deliver the bytes now, and Error when they are damaged,
/// or of another index.
void fetch_attributes(const std::shared_ptr<PlacedNodes>& nodes,
                      const search::FetchOptions& options, search::SearchIndex& index);

}  // namespace farvec::tiers
