#include "ssd_baseline/paged/build/colocation.h"

#include "layout/store/store_page.h"

namespace farvec::paged {
namespace {

constexpr std::uint32_t kSlotsOfVertex = 2;

}  // namespace

layout::RecordCosts hnsw_record_costs(const graph::HnswGraph& graph,
                                      const layout::HnswShape& shape) {
  layout::RecordCosts costs{
      std::vector<std::uint16_t>(graph.count()),
      shape.page_bytes - static_cast<std::uint32_t>(sizeof(layout::StorePageHeader))};
  for (NodeId v = 0; v < graph.count(); ++v) {
    const std::uint32_t slots = kSlotsOfVertex * sizeof(layout::StoreSlot);
    costs.bytes[v] = static_cast<std::uint16_t>(shape.vertex_bytes(graph.level(v)) + slots);
  }
  return costs;
}

Colocation::Colocation(const graph::HnswGraph& graph, const layout::HnswShape& shape,
                       const ColocationOptions& options) {
  const layout::RecordCosts costs = hnsw_record_costs(graph, shape);
  plan_ = slotted::pack_partitions(
      {graph.base().view(), costs, options.partition_nodes, options.seed, options.threads});
  for (std::size_t p = 0; p < plan_.pages.pages(); ++p) {
    page_begins_.push_back(static_cast<std::uint32_t>(plan_.pages.begins[p]));
  }
}

}  // namespace farvec::paged
