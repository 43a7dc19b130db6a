// A Colocation decides where the vertices of a new HNSW graph lie, so that neighbours share pages.
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
  unsigned threads = 0;  ///< see resolve_threads(); the order does not depend on it
};

/// Returns how many bytes of a page every vertex takes, with its slots, and how many a page has.
layout::RecordCosts hnsw_record_costs(const graph::HnswGraph& graph,
                                      const layout::HnswShape& shape);

/// Is slotted::pack_partitions() of a graph's lowest layer, in the form that PagedHnsw::create()
/// takes. It does not change.
class Colocation {
 public:
  /// Keeps neither the graph nor the shape. Throws Error like slotted::pack_partitions().
  Colocation(const graph::HnswGraph& graph, const layout::HnswShape& shape,
             const ColocationOptions& options);

  const slotted::PartitionPlan& plan() const { return plan_; }
  /// Returns the order, which is valid as long as this lives and is not moved.
  HnswPageOrder order() const { return {plan_.pages.ids, page_begins_, plan_.partitions}; }

 private:
  slotted::PartitionPlan plan_;
  std::vector<std::uint32_t> page_begins_;
};

}  // namespace farvec::paged
