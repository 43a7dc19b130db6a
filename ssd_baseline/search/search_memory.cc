#include "ssd_baseline/search/search_memory.h"

#include <algorithm>

#include "coroutines/stack_pool.h"
#include "graph/beam_scratch.h"

namespace farvec::ssd_baseline {

std::size_t graph_search_bytes(const GraphSearchShape& shape) {
  graph::BeamParameters parameters;
  parameters.list = shape.list;
  parameters.k = std::min(shape.list, shape.results);
  parameters.width = shape.width;
  parameters.max_degree = shape.max_degree;
  parameters.node_count = shape.node_count;
  graph::BeamScratch scratch;
  scratch.reset(parameters, shape.improving);
  return coroutines::kStackBytes + scratch.dram_bytes() + shape.dimension * kQueryBytesPerDimension;
}

}  // namespace farvec::ssd_baseline
