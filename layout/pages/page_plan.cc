#include "layout/pages/page_plan.h"

#include <algorithm>

#include "base/check.h"
#include "base/error.h"
#include "base/parallel.h"
#include "layout/pages/slotted_record.h"

namespace farvec::layout {
namespace {

constexpr std::size_t kChunk = 4096;

}  // namespace

RecordCosts record_costs(const SlottedGeometry& geometry, const AdjacencyView& graph,
                         unsigned threads) {
  geometry.validate();
  RecordCosts costs{std::vector<std::uint16_t>(graph.count), geometry.page_capacity()};
  std::vector<std::size_t> largest(resolve_threads(threads), SlottedGeometry::kSlotBytes);
  parallel_for(graph.count, kChunk, resolve_threads(threads),
               [&](std::size_t begin, std::size_t end, unsigned worker) {
                 std::vector<NodeId> sorted;
                 for (std::size_t v = begin; v < end; ++v) {
                   sorted.assign(graph.row(v), graph.row(v) + graph.degrees[v]);
                   std::sort(sorted.begin(), sorted.end());
                   const std::size_t cost =
                       slotted_record_bytes(geometry, sorted) + SlottedGeometry::kSlotBytes;
                   largest[worker] = std::max(largest[worker], cost);
                   costs.bytes[v] = static_cast<std::uint16_t>(std::min<std::size_t>(cost, 65535));
                 }
               });
  const std::size_t most = *std::max_element(largest.begin(), largest.end());
  geometry.require_fits(most - SlottedGeometry::kSlotBytes);
  return costs;
}

PagePlan plan_in_order(std::span<const NodeId> order, const RecordCosts& costs) {
  PagePlan plan;
  plan.ids.assign(order.begin(), order.end());
  std::uint32_t used = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::uint32_t cost = costs.bytes[order[i]];
    if (used + cost > costs.page_capacity) {
      plan.begins.push_back(i);
      used = 0;
    }
    used += cost;
  }
  if (!order.empty()) plan.begins.push_back(order.size());
  return plan;
}

std::vector<std::uint32_t> pages_of(const PagePlan& plan, const RecordCosts& costs) {
  constexpr std::uint32_t kNone = 0xffffffff;
  if (plan.pages() > SlottedGeometry::kMostPages || plan.ids.size() != costs.count() ||
      plan.begins.back() != plan.ids.size() ||
      (!plan.colors.empty() && plan.colors.size() != plan.ids.size())) {
    throw Error("a plan of {} records on {} pages is not one of {} vertices", plan.ids.size(),
                plan.pages(), costs.count());
  }
  std::vector<std::uint32_t> pages(costs.count(), kNone);
  for (std::size_t p = 0; p < plan.pages(); ++p) {
    std::size_t used = 0;
    for (const NodeId id : plan.page(p)) {
      if (id >= pages.size() || pages[id] != kNone) {
        throw Error("vertex {} is in more than one page, or does not exist", id);
      }
      pages[id] = static_cast<std::uint32_t>(p);
      used += costs.bytes[id];
    }
    if (used == 0 || used > costs.page_capacity) {
      throw Error("page {} of the plan holds {} of {} bytes", p, used, costs.page_capacity);
    }
  }
  return pages;
}

double page_overlap(const PagePlan& plan, const AdjacencyView& graph) {
  std::vector<std::uint32_t> page_of(graph.count);
  for (std::size_t p = 0; p < plan.pages(); ++p) {
    for (const NodeId id : plan.page(p)) page_of[id] = static_cast<std::uint32_t>(p);
  }
  double sum = 0;
  for (std::size_t p = 0; p < plan.pages(); ++p) {
    const std::size_t others = plan.page(p).size() - 1;
    std::size_t inside = 0;
    for (const NodeId id : plan.page(p)) {
      for (std::uint32_t i = 0; i < graph.degrees[id]; ++i) {
        const NodeId neighbor = graph.row(id)[i];
        inside += neighbor != id && page_of[neighbor] == p ? 1 : 0;
      }
    }
    if (others > 0) sum += static_cast<double>(inside) / static_cast<double>(others);
  }
  return graph.count == 0 ? 0 : sum / static_cast<double>(graph.count);
}

}  // namespace farvec::layout
