#include "ssd_baseline/slotted/packing/bnf_packing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "base/random.h"
#include "ssd_baseline/slotted/packing/adjacency_lists.h"

namespace farvec::slotted {
namespace {

constexpr std::uint32_t kNone = 0xffffffff;
constexpr std::size_t kBatch = 8192;
constexpr std::size_t kChunk = 256;
constexpr std::size_t kChoices = 16;
constexpr double kLeastGain = 0.01;

/// The pages in which a vertex has most neighbours.
struct Choices {
  struct Choice {
    std::uint32_t page = kNone;
    std::uint32_t count = 0;
  };
  std::array<Choice, kChoices> best;
  std::size_t size = 0;
};

class Shuffler {
 public:
  explicit Shuffler(const PackingInput& input)
      : input_(input),
        neighbors_(
            input.graph.count,
            [&](std::size_t v) { return std::span(input.graph.row(v), input.graph.degrees[v]); }),
        order_(input.graph.count),
        pages_(input.graph.count, kNone),
        threads_(resolve_threads(input.threads)) {
    std::iota(order_.begin(), order_.end(), NodeId{0});
  }

  layout::PagePlan run() {
    layout::PagePlan best = first_plan();
    if (best.ids.empty()) return best;
    double best_overlap = page_overlap(best, input_.graph);
    page_count_ = static_cast<std::uint32_t>(best.pages());
    take_pages(best);
    Random random(input_.seed);
    for (int round = 0; round < kBnfRounds; ++round) {
      for (std::size_t i = order_.size(); i > 1; --i) {
        std::swap(order_[i - 1], order_[random.below(i)]);
      }
      shuffle(round);
      layout::PagePlan plan = plan_of_pages();
      const double overlap = page_overlap(plan, input_.graph);
      const bool gained = overlap > best_overlap * (1 + kLeastGain);
      if (overlap > best_overlap) {
        best = std::move(plan);
        best_overlap = overlap;
      }
      if (!gained) break;
    }
    return best;
  }

 private:
  /// Returns a plan with every vertex followed by those of its neighbours that have no place yet.
  layout::PagePlan first_plan() const {
    std::vector<bool> placed(order_.size());
    std::vector<NodeId> ids;
    ids.reserve(order_.size());
    const auto place = [&](NodeId id) {
      if (placed[id]) return;
      placed[id] = true;
      ids.push_back(id);
    };
    for (NodeId v = 0; v < order_.size(); ++v) {
      if (placed[v]) continue;
      place(v);
      const NodeId* row = input_.graph.row(v);
      std::for_each(row, row + input_.graph.degrees[v], place);
    }
    return layout::plan_in_order(ids, input_.costs);
  }

  void take_pages(const layout::PagePlan& plan) {
    for (std::size_t p = 0; p < plan.pages(); ++p) {
      for (const NodeId id : plan.page(p)) pages_[id] = static_cast<std::uint32_t>(p);
    }
  }

  /// Makes one round over all vertices.
  void shuffle(int round) {
    Progress progress(fmt::format("packing, round {}", round + 1), order_.size(), input_.quiet,
                      input_.interrupted);
    used_.assign(page_count_, 0);
    roomy_ = 0;
    std::vector<Choices> choices(kBatch);
    for (std::size_t begin = 0; begin < order_.size(); begin += kBatch) {
      const std::size_t size = std::min(kBatch, order_.size() - begin);
      parallel_for(size, kChunk, threads_, [&](std::size_t first, std::size_t last, unsigned) {
        for (std::size_t i = first; i < last; ++i) choices[i] = choices_of(order_[begin + i]);
      });
      for (std::size_t i = 0; i < size; ++i) assign(order_[begin + i], choices[i]);
      progress.advance(size);
    }
  }

  /// Where pages have equally many neighbours, the smaller page number comes first.
  Choices choices_of(NodeId v) const {
    const auto ids = neighbors_.of(v);
    std::vector<std::uint32_t> pages(ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) pages[i] = pages_[ids[i]];
    std::sort(pages.begin(), pages.end());
    std::vector<Choices::Choice> counted;
    for (const std::uint32_t page : pages) {
      if (counted.empty() || counted.back().page != page) counted.push_back({page, 0});
      ++counted.back().count;
    }
    Choices choices;
    choices.size = std::min(counted.size(), kChoices);
    std::partial_sort_copy(counted.begin(), counted.end(), choices.best.begin(),
                           choices.best.begin() + static_cast<std::ptrdiff_t>(choices.size),
                           [](const Choices::Choice& a, const Choices::Choice& b) {
                             return a.count != b.count ? a.count > b.count : a.page < b.page;
                           });
    return choices;
  }

  void assign(NodeId v, const Choices& choices) {
    const std::uint32_t cost = input_.costs.bytes[v];
    const std::uint64_t capacity = input_.costs.page_capacity;
    std::uint32_t chosen = kNone;
    std::uint64_t best = 0;
    for (std::size_t i = 0; i < choices.size; ++i) {
      const auto [page, count] = choices.best[i];
      if (used_[page] + cost > capacity) continue;
      const std::uint64_t score = count * (capacity - used_[page]);
      if (score > best) {
        best = score;
        chosen = page;
      }
    }
    pages_[v] = chosen != kNone ? chosen : page_with_room(cost);
    used_[pages_[v]] += cost;
  }

  /// A page is skipped for good once a record does not fit: what is lost is less than a record.
  std::uint32_t page_with_room(std::uint32_t cost) {
    while (roomy_ < page_count_ && used_[roomy_] + cost > input_.costs.page_capacity) ++roomy_;
    if (roomy_ == page_count_) {
      ++page_count_;
      used_.push_back(0);
    }
    return roomy_;
  }

  /// Makes the plan, without empty pages.
  layout::PagePlan plan_of_pages() const {
    std::vector<std::uint64_t> ends(page_count_ + 1);
    for (const std::uint32_t page : pages_) ++ends[page + 1];
    for (std::uint32_t p = 0; p < page_count_; ++p) ends[p + 1] += ends[p];
    layout::PagePlan plan;
    for (std::uint32_t p = 0; p < page_count_; ++p) {
      if (ends[p + 1] > ends[p]) plan.begins.push_back(ends[p + 1]);
    }
    plan.ids.resize(pages_.size());
    for (NodeId v = 0; v < pages_.size(); ++v) plan.ids[ends[pages_[v]]++] = v;
    return plan;
  }

  const PackingInput& input_;
  const AdjacencyLists neighbors_;
  std::vector<NodeId> order_;
  std::vector<std::uint32_t>
      pages_;  ///< the page of each vertex, in this round or in the one before
  std::vector<std::uint32_t> used_;  ///< bytes of each page in this round
  std::uint32_t page_count_ = 0;
  std::uint32_t roomy_ = 0;  ///< pages before it have no room for a vertex without a choice
  const unsigned threads_;
};

}  // namespace

layout::PagePlan pack_by_bnf(const PackingInput& input) {
  return Shuffler(input).run();
}

}  // namespace farvec::slotted
