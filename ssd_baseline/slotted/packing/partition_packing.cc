#include "ssd_baseline/slotted/packing/partition_packing.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "base/error.h"
#include "graph/affine_sets.h"
#include "ssd_baseline/slotted/packing/bnf_packing.h"
#include "ssd_baseline/slotted/packing/packing.h"

namespace farvec::slotted {
namespace {

constexpr std::uint32_t kNotHere = 0xffffffff;

/// Returns the partitions in the order of their first vertices, each with its vertices ascending.
std::vector<std::vector<NodeId>> partitions_by_bnf(const PartitionInput& input) {
  const std::size_t count = input.graph.count;
  const layout::RecordCosts ones{std::vector<std::uint16_t>(count, 1), input.partition_nodes};
  const layout::PagePlan plan =
      pack_by_bnf({input.graph, ones, graph::AffineSets{}, input.seed, input.threads});
  std::vector<std::vector<NodeId>> partitions(plan.pages());
  for (std::size_t p = 0; p < partitions.size(); ++p) {
    partitions[p].assign(plan.page(p).begin(), plan.page(p).end());
    std::sort(partitions[p].begin(), partitions[p].end());
  }
  std::sort(partitions.begin(), partitions.end());
  return partitions;
}

/// Lays one partition after another onto pages.
class PageFiller {
 public:
  explicit PageFiller(const PartitionInput& input)
      : input_(input), place_(input.graph.count, kNotHere) {}

  void add(std::span<const NodeId> members) {
    std::uint64_t bytes = 0;
    for (const NodeId id : members) bytes += input_.costs.bytes[id];
    if (used_ + bytes > input_.costs.page_capacity) end_partition();
    if (bytes <= input_.costs.page_capacity) {
      for (const NodeId id : members) append(id);
    } else {
      add_large(members);
    }
  }

  PartitionPlan finish() {
    end_partition();
    return std::move(plan_);
  }

 private:
  void append(NodeId id) {
    plan_.pages.ids.push_back(id);
    used_ += input_.costs.bytes[id];
  }

  void end_page() {
    if (used_ == 0) return;
    plan_.pages.begins.push_back(plan_.pages.ids.size());
    plan_.partitions.push_back(plan_.count);
    used_ = 0;
  }

  void end_partition() {
    end_page();
    if (!plan_.partitions.empty()) plan_.count = plan_.partitions.back() + 1;
  }

  /// Lays out a partition of several pages.
  void add_large(std::span<const NodeId> members) {
    count_links(members);
    std::vector<std::uint32_t> left(members.size());
    std::iota(left.begin(), left.end(), 0u);
    while (!left.empty()) fill_page(members, left);
    end_partition();
  }

  /// Sets links_[a * size + b] to the number of edges between members a and b, in both directions.
  void count_links(std::span<const NodeId> members) {
    const std::size_t size = members.size();
    links_.assign(size * size, 0);
    for (std::uint32_t a = 0; a < size; ++a) place_[members[a]] = a;
    for (std::uint32_t a = 0; a < size; ++a) {
      const NodeId* row = input_.graph.row(members[a]);
      for (std::uint32_t i = 0; i < input_.graph.degrees[members[a]]; ++i) {
        const std::uint32_t b = place_[row[i]];
        if (b == kNotHere || b == a) continue;
        ++links_[a * size + b];
        ++links_[b * size + a];
      }
    }
    for (const NodeId id : members) place_[id] = kNotHere;
  }

  /// Takes one page of members out of `left`.
  void fill_page(std::span<const NodeId> members, std::vector<std::uint32_t>& left) {
    const std::size_t size = members.size();
    std::vector<std::uint32_t> score(size,
                                     0);  // edges: first to all that are left, then to the page
    for (const std::uint32_t a : left) {
      for (const std::uint32_t b : left) score[a] += links_[a * size + b];
    }
    for (bool first = true;; first = false) {
      auto best = left.end();
      for (auto a = left.begin(); a != left.end(); ++a) {
        if (used_ + input_.costs.bytes[members[*a]] > input_.costs.page_capacity) continue;
        if (best == left.end() || score[*a] > score[*best]) best = a;
      }
      if (best == left.end()) break;
      const std::uint32_t taken = *best;
      left.erase(best);
      append(members[taken]);
      if (first) std::fill(score.begin(), score.end(), 0u);
      for (const std::uint32_t a : left) score[a] += links_[a * size + taken];
    }
    end_page();
  }

  const PartitionInput& input_;
  PartitionPlan plan_;
  std::uint64_t used_ = 0;  ///< bytes of the open page
  std::vector<std::uint32_t>
      place_;  ///< the place of a vertex among the members of the partition that is being laid out
  std::vector<std::uint8_t> links_;
};

}  // namespace

PartitionPlan pack_partitions(const PartitionInput& input) {
  if (input.partition_nodes == 0 || input.partition_nodes > kMostPartitionNodes) {
    throw Error("partitions of {} vertices are out of range: use 1 to {}", input.partition_nodes,
                kMostPartitionNodes);
  }
  PageFiller filler(input);
  for (const auto& members : partitions_by_bnf(input)) filler.add(members);
  return filler.finish();
}

std::vector<double> inner_degrees(const PartitionPlan& plan, const AdjacencyView& graph) {
  std::vector<std::uint32_t> partition_of(graph.count);
  std::vector<std::uint64_t> edges(plan.count), vertices(plan.count);
  for (std::size_t p = 0; p < plan.pages.pages(); ++p) {
    for (const NodeId id : plan.pages.page(p)) partition_of[id] = plan.partitions[p];
  }
  for (NodeId v = 0; v < graph.count; ++v) {
    const std::uint32_t own = partition_of[v];
    ++vertices[own];
    for (std::uint32_t i = 0; i < graph.degrees[v]; ++i) {
      edges[own] += partition_of[graph.row(v)[i]] == own ? 1 : 0;
    }
  }
  std::vector<double> degrees(plan.count);
  for (std::size_t p = 0; p < degrees.size(); ++p) {
    degrees[p] = static_cast<double>(edges[p]) / static_cast<double>(vertices[p]);
  }
  return degrees;
}

std::vector<bool> choose_insert_partitions(const PartitionPlan& plan, const AdjacencyView& graph,
                                           double share) {
  if (!(share >= 0 && share <= 1)) {
    throw Error("a share of {} of the partitions is out of range: use 0 to 1", share);
  }
  const std::vector<double> degrees = inner_degrees(plan, graph);
  std::vector<std::uint32_t> ranked(plan.count);
  std::iota(ranked.begin(), ranked.end(), 0u);
  std::stable_sort(ranked.begin(), ranked.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return degrees[a] > degrees[b]; });
  const auto chosen =
      static_cast<std::size_t>(std::lround(share * static_cast<double>(plan.count)));
  std::vector<bool> result(plan.count);
  for (std::size_t i = 0; i < chosen; ++i) result[ranked[i]] = true;
  return result;
}

}  // namespace farvec::slotted
