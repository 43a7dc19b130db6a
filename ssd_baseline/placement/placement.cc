#include "ssd_baseline/placement/placement.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/error.h"
#include "ssd_baseline/placement/affinity_placement.h"
#include "ssd_baseline/placement/bnf_placement.h"
#include "ssd_baseline/placement/page_colors.h"

namespace farvec::ssd_baseline {
namespace {

layout::PagePlan place_by_id(const layout::RecordCosts& costs) {
  std::vector<NodeId> ids(costs.count());
  std::iota(ids.begin(), ids.end(), NodeId{0});
  return layout::plan_in_order(ids, costs);
}

}  // namespace

std::string_view to_string(PlacementKind kind) {
  switch (kind) {
    case PlacementKind::affinity:
      return "affinity";
    case PlacementKind::bnf:
      return "bnf";
    case PlacementKind::id:
      break;
  }
  return "id";
}

PlacementKind parse_placement_kind(std::string_view text) {
  for (const PlacementKind kind :
       {PlacementKind::affinity, PlacementKind::bnf, PlacementKind::id}) {
    if (text == to_string(kind)) return kind;
  }
  throw Error("unknown placement '{}': use affinity, bnf or id", text);
}

layout::PagePlan place_records(PlacementKind kind, const PlacementInput& input) {
  if (kind == PlacementKind::affinity) return place_by_affinity(input);
  layout::PagePlan plan =
      kind == PlacementKind::bnf ? place_by_bnf(input) : place_by_id(input.costs);
  if (!input.affine.empty()) color_pages(input.affine, plan);
  return plan;
}

AffinePairs count_affine_pairs(const graph::AffineSets& affine, const layout::PagePlan& plan) {
  std::vector<std::uint32_t> page_of(affine.count());
  for (std::size_t p = 0; p < plan.pages(); ++p) {
    for (const NodeId id : plan.page(p)) {
      if (id < page_of.size()) page_of[id] = static_cast<std::uint32_t>(p);
    }
  }
  AffinePairs pairs;
  for (NodeId v = 0; v < affine.count(); ++v) {
    for (const NodeId other : affine.of(v)) {
      const auto back = affine.of(other);
      if (other < v && std::find(back.begin(), back.end(), v) != back.end()) continue;
      ++pairs.all;
      pairs.together += page_of[v] == page_of[other] ? 1 : 0;
    }
  }
  return pairs;
}

}  // namespace farvec::ssd_baseline
