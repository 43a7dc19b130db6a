#include "ssd_baseline/slotted/packing/page_colors.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace farvec::slotted {
namespace {

/// Puts the records of one page, by id, into sets that are joined by affine pairs.
class PageSets {
 public:
  explicit PageSets(std::span<const NodeId> page) {
    for (std::uint32_t i = 0; i < page.size(); ++i) {
      members_.push_back({page[i], i});
      roots_.push_back(i);
    }
    std::sort(members_.begin(), members_.end());
  }

  /// Joins the record at `i` with `id`, if the page has it.
  void join(std::uint32_t i, NodeId id) {
    const auto found = std::lower_bound(members_.begin(), members_.end(), std::pair{id, 0u});
    if (found == members_.end() || found->first != id) return;
    const std::uint32_t a = root(i), b = root(found->second);
    roots_[std::max(a, b)] = std::min(a, b);
  }

  std::uint32_t root(std::uint32_t i) const {
    while (roots_[i] != i) i = roots_[i];
    return i;
  }

 private:
  std::vector<std::pair<NodeId, std::uint32_t>> members_;  ///< id, place in the page
  std::vector<std::uint32_t> roots_;
};

}  // namespace

void color_pages(const graph::AffineSets& affine, layout::PagePlan& plan) {
  plan.colors.assign(plan.ids.size(), 0);
  std::uint8_t last = 0;
  for (std::size_t p = 0; p < plan.pages(); ++p) {
    const auto page = plan.page(p);
    PageSets sets(page);
    for (std::uint32_t i = 0; i < page.size(); ++i) {
      for (const NodeId id : affine.of(page[i])) sets.join(i, id);
    }
    const std::span colors = std::span(plan.colors).subspan(plan.begins[p], page.size());
    for (std::uint32_t i = 0; i < page.size(); ++i) {
      const std::uint32_t first = sets.root(i);
      if (first == i) continue;
      if (colors[first] == 0) {
        last = last == 255 ? std::uint8_t{1} : static_cast<std::uint8_t>(last + 1);
        colors[first] = last;
      }
      colors[i] = colors[first];
    }
  }
}

}  // namespace farvec::slotted
