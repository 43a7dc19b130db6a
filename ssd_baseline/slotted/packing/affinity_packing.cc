#include "ssd_baseline/slotted/packing/affinity_packing.h"

#include <span>
#include <vector>

#include "base/check.h"
#include "ssd_baseline/slotted/packing/adjacency_lists.h"

namespace farvec::slotted {
namespace {

/// Fills one page after another.
class Filler {
 public:
  explicit Filler(const PackingInput& input)
      : input_(input),
        affine_(input.affine.count(), [&](std::size_t v) { return input.affine.of(v); }),
        placed_(input.costs.count()),
        progress_("packing", input.costs.count(), input.quiet, input.interrupted) {
    FARVEC_CHECK(affine_.count() == input.costs.count(), "{} affine sets", affine_.count());
    plan_.ids.reserve(input.costs.count());
    plan_.colors.reserve(input.costs.count());
  }

  layout::PagePlan run() {
    for (NodeId v = 0; v < placed_.size(); ++v) {
      if (!placed_[v] && has_unplaced(affine_.of(v))) place_from(v);
    }
    for (NodeId v = 0; v < placed_.size(); ++v) {
      if (placed_[v]) continue;
      append(v, 0);
      fill_with_neighbors();
    }
    close_page();
    return std::move(plan_);
  }

 private:
  bool has_unplaced(std::span<const NodeId> ids) const {
    for (const NodeId id : ids) {
      if (!placed_[id]) return true;
    }
    return false;
  }
  std::uint32_t room() const { return input_.costs.page_capacity - used_; }
  bool fits(NodeId id) const { return input_.costs.bytes[id] <= room(); }
  std::span<const NodeId> neighbors(NodeId id) const {
    return {input_.graph.row(id), input_.graph.degrees[id]};
  }

  void close_page() {
    if (plan_.ids.size() > plan_.begins.back()) {
      progress_.advance(plan_.ids.size() - plan_.begins.back());
      plan_.begins.push_back(plan_.ids.size());
    }
    used_ = 0;
    next_member_ = plan_.ids.size();
    next_neighbors_of_ = plan_.ids.size();
  }

  void append(NodeId id, std::uint8_t color) {
    if (!fits(id)) close_page();
    plan_.ids.push_back(id);
    plan_.colors.push_back(color);
    placed_[id] = true;
    used_ += input_.costs.bytes[id];
  }

  /// Places the set of `seed`, then the sets of what is affine to records of the page, page after
  /// page.
  void place_from(NodeId seed) {
    while (seed != kInvalidNode) {
      place_set(seed);
      seed = next_seed();
    }
  }

  /// Returns an unplaced vertex that is affine to a record of the page.
  NodeId next_seed() {
    for (; next_member_ < plan_.ids.size(); ++next_member_) {
      for (const NodeId id : affine_.of(plan_.ids[next_member_])) {
        if (!placed_[id]) return id;
      }
    }
    return kInvalidNode;
  }

  void place_set(NodeId seed) {
    set_.assign(1, seed);
    std::uint32_t bytes = input_.costs.bytes[seed];
    for (const NodeId id : affine_.of(seed)) {
      if (placed_[id] || bytes + input_.costs.bytes[id] > input_.costs.page_capacity) continue;
      set_.push_back(id);
      bytes += input_.costs.bytes[id];
    }
    if (bytes > room() && fill_with_single_records()) close_page();
    const std::uint8_t color = set_.size() > 1 ? next_color() : color_of_affine(seed);
    for (const NodeId id : set_) append(id, color);
  }

  /// A record that comes alone belongs to the set in the page to which it is affine.
  std::uint8_t color_of_affine(NodeId id) const {
    for (std::size_t i = plan_.begins.back(); fits(id) && i < plan_.ids.size(); ++i) {
      for (const NodeId other : affine_.of(id)) {
        if (other == plan_.ids[i]) return plan_.colors[i];
      }
    }
    return 0;
  }

  std::uint8_t next_color() {
    color_ = color_ == 255 ? std::uint8_t{1} : static_cast<std::uint8_t>(color_ + 1);
    return color_;
  }

  /// Fills the page with records that have no affine ones: neighbours of those in the page, then
  /// the first by id. False when there is none.
  bool fill_with_single_records() {
    bool any = false;
    for (std::size_t i = plan_.begins.back(); i < plan_.ids.size(); ++i) {
      for (const NodeId id : neighbors(plan_.ids[i])) {
        if (placed_[id] || !affine_.of(id).empty() || !fits(id)) continue;
        append(id, 0);
        any = true;
      }
    }
    for (;; ++single_) {
      while (single_ < placed_.size() && (placed_[single_] || !affine_.of(single_).empty())) {
        ++single_;
      }
      if (single_ >= placed_.size() || !fits(single_)) return any;
      append(single_, 0);
      any = true;
    }
  }

  /// Fills the page with unplaced neighbours of its records, and theirs.
  void fill_with_neighbors() {
    for (; next_neighbors_of_ < plan_.ids.size(); ++next_neighbors_of_) {
      for (const NodeId id : neighbors(plan_.ids[next_neighbors_of_])) {
        if (placed_[id]) continue;
        if (!fits(id)) return;
        append(id, 0);
      }
    }
  }

  const PackingInput& input_;
  const AdjacencyLists affine_;
  std::vector<bool> placed_;
  Progress progress_;
  layout::PagePlan plan_;
  std::vector<NodeId> set_;
  std::uint32_t used_ = 0;  ///< bytes of the open page
  std::size_t next_member_ =
      0;  ///< place in plan_.ids; records before it have no unplaced affine ones
  std::size_t next_neighbors_of_ =
      0;               ///< place in plan_.ids; records before it have no unplaced neighbours
  NodeId single_ = 0;  ///< all before it are placed or in sets
  std::uint8_t color_ = 0;
};

}  // namespace

layout::PagePlan pack_by_affinity(const PackingInput& input) {
  return Filler(input).run();
}

}  // namespace farvec::slotted
