#include "ssd_baseline/slotted/packing/packing.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/error.h"
#include "ssd_baseline/slotted/packing/affinity_packing.h"
#include "ssd_baseline/slotted/packing/bnf_packing.h"
#include "ssd_baseline/slotted/packing/page_colors.h"

namespace farvec::slotted {
namespace {

layout::PagePlan pack_by_id(const layout::RecordCosts& costs) {
  std::vector<NodeId> ids(costs.count());
  std::iota(ids.begin(), ids.end(), NodeId{0});
  return layout::plan_in_order(ids, costs);
}

}  // namespace

std::string_view to_string(PackingKind kind) {
  switch (kind) {
    case PackingKind::affinity:
      return "affinity";
    case PackingKind::bnf:
      return "bnf";
    case PackingKind::id:
      break;
  }
  return "id";
}

PackingKind parse_packing_kind(std::string_view text) {
  for (const PackingKind kind : {PackingKind::affinity, PackingKind::bnf, PackingKind::id}) {
    if (text == to_string(kind)) return kind;
  }
  throw Error("unknown placement '{}': use affinity, bnf or id", text);
}

layout::PagePlan pack_records(PackingKind kind, const PackingInput& input) {
  if (kind == PackingKind::affinity) return pack_by_affinity(input);
  layout::PagePlan plan = kind == PackingKind::bnf ? pack_by_bnf(input) : pack_by_id(input.costs);
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

}  // namespace farvec::slotted
