// Where the vertices of a new HNSW graph lie, so that neighbours share pages.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/hnsw/hnsw_graph.h"
#include "layout/hnsw/hnsw_shape.h"
#include "ssd_baseline/paged/graph/paged_hnsw.h"
#include "ssd_baseline/slotted/packing/partition_packing.h"

namespace farvec::paged {

struct ColocationOptions {
  std::uint32_t partition_nodes = 64;  ///< 1 to kMostPartitionNodes; 1: in the order of rows
  std::uint64_t seed = 1;
  unsigned threads = 0;  ///< as in resolve_threads(); the order does not depend on it
};

/// What every vertex takes of a page, its slots too, and what a page has.
layout::RecordCosts hnsw_record_costs(const graph::HnswGraph& graph,
                                      const layout::HnswShape& shape);

/// slotted::pack_partitions() of a graph's lowest layer, as PagedHnsw::create() takes it.
/// Immutable.
class Colocation {
 public:
  /// Neither is kept. Throws Error as slotted::pack_partitions() does.
  Colocation(const graph::HnswGraph& graph, const layout::HnswShape& shape,
             const ColocationOptions& options);

  const slotted::PartitionPlan& plan() const { return plan_; }
  /// Valid as long as this lives and is not moved.
  HnswPageOrder order() const { return {plan_.pages.ids, page_begins_, plan_.partitions}; }

 private:
  slotted::PartitionPlan plan_;
  std::vector<std::uint32_t> page_begins_;
};

}  // namespace farvec::paged
