// Where the vertices of a new HNSW graph lie, so that neighbours share pages.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/hnsw/hnsw_graph.h"
#include "layout/hnsw/hnsw_shape.h"
#include "ssd_baseline/hnsw/paged_hnsw.h"
#include "ssd_baseline/packing/partition_packing.h"

namespace farvec::ssd_baseline {

struct ColocationOptions {
  std::uint32_t partition_nodes = 64;  ///< 1 to kMostPartitionNodes; 1: in the order of rows
  std::uint64_t seed = 1;
  unsigned threads = 0;  ///< as in resolve_threads(); the order does not depend on it
};

/// What every vertex takes of a page, its slots too, and what a page has.
layout::RecordCosts hnsw_record_costs(const graph::HnswGraph& graph,
                                      const layout::HnswShape& shape);

/// pack_partitions() of a graph's lowest layer, as PagedHnsw::create() takes it. Immutable.
class Colocation {
 public:
  /// Neither is kept. Throws Error as pack_partitions() does.
  Colocation(const graph::HnswGraph& graph, const layout::HnswShape& shape,
             const ColocationOptions& options);

  const PartitionPlan& plan() const { return plan_; }
  /// Valid as long as this lives and is not moved.
  HnswPageOrder order() const { return {plan_.pages.ids, page_begins_, plan_.partitions}; }

 private:
  PartitionPlan plan_;
  std::vector<std::uint32_t> page_begins_;
};

}  // namespace farvec::ssd_baseline
