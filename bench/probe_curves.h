// What probing more and more clusters brings and costs, counted over the memberships. For
// cluster_recall.cc.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/membership.h"
#include "cluster/centroid_index.h"
#include "cluster/clustering.h"

namespace farvec {

inline constexpr std::uint32_t kK = 10;

/// How vectors are given homes, each with its columns.
enum Grouping : std::uint8_t {
  by_members,  ///< before anybody has probed
  by_sample,   ///< by what the first half probes
  by_itself,   ///< by what the second half probes, which is what is counted: no workload has it
  kGroupings
};
inline constexpr const char* kGroupingNames[] = {"members", "sample", "itself"};

/// Means over all queries after probing p clusters, at [p]; while they are added to, differences
/// from p - 1.
struct Curves {
  using Column = std::vector<double>;
  explicit Curves(std::uint32_t max_probe = 0) {
    for (Column* column : columns()) column->assign(max_probe + 2, 0);
  }
  std::vector<Column*> columns() {
    std::vector<Column*> all{&recall, &scanned, &distinct};
    for (std::size_t g = 0; g < kGroupings; ++g) {
      all.insert(all.end(), {&pieces[g], &alone[g], &strays[g]});
    }
    return all;
  }

  Column recall;              ///< share of the k nearest
  Column scanned;             ///< members of the probed clusters, replicas counted each time
  Column distinct;            ///< different vectors among them
  Column pieces[kGroupings];  ///< groups, and lists of those clusters that have strays
  Column alone[kGroupings];   ///< of the scanned, those whose home is another than their cluster
  Column strays[kGroupings];  ///< of the distinct, those whose home is not probed
};

/// Which vectors every cluster holds.
struct Postings {
  explicit Postings(const cluster::Clustering& clustering) : lists(clustering.count()) {
    const MembershipView membership = clustering.membership();
    for (std::size_t v = 0; v < membership.count(); ++v) {
      for (const ClusterId c : membership.of(v)) lists[c].push_back(static_cast<NodeId>(v));
    }
  }
  std::vector<std::vector<NodeId>> lists;
};

using Homes = std::vector<std::vector<ClusterId>>;  ///< [grouping][vector]

/// Adds one query's counts to the curves.
class QueryCounter {
 public:
  QueryCounter(const cluster::Clustering& clustering, const Postings& postings, const Homes& homes,
               std::uint32_t max_probe)
      : membership_(clustering.membership()),
        postings_(postings),
        homes_(homes),
        max_probe_(max_probe),
        rank_(clustering.count(), max_probe + 1),
        seen_(membership_.count(), 0) {}

  void add(const std::vector<cluster::NearCluster>& order, std::span<const NodeId> nearest,
           Curves& out) {
    ++query_;
    for (std::uint32_t i = 0; i < order.size(); ++i) rank_[order[i].cluster] = i + 1;
    std::vector<std::uint32_t> found;
    for (const NodeId v : nearest) {
      std::uint32_t best = max_probe_ + 1;
      for (const ClusterId c : membership_.of(v)) best = std::min(best, rank_[c]);
      found.push_back(best);
    }
    std::sort(found.begin(), found.end());  // ties with the k-th may stand for each other
    for (std::uint32_t i = 0; i < kK; ++i) out.recall[found[i]] += 1.0 / kK;
    for (std::uint32_t i = 0; i < order.size(); ++i) count_members(order[i].cluster, i + 1, out);
    for (const cluster::NearCluster& near : order) rank_[near.cluster] = max_probe_ + 1;
  }

 private:
  void count_members(ClusterId cluster, std::uint32_t rank, Curves& out) {
    const auto members = static_cast<double>(postings_.lists[cluster].size());
    out.scanned[rank] += members;
    std::uint32_t at_home[kGroupings] = {};
    for (const NodeId v : postings_.lists[cluster]) {
      const bool is_new = std::exchange(seen_[v], query_) != query_;
      out.distinct[rank] += is_new ? 1 : 0;
      for (std::size_t g = 0; g < homes_.size(); ++g) {
        at_home[g] += homes_[g][v] == cluster ? 1 : 0;
        const std::uint32_t home = rank_[homes_[g][v]];
        if (!is_new || home <= rank) continue;
        out.strays[g][rank] += 1;
        out.strays[g][home] -= 1;
      }
    }
    for (std::size_t g = 0; g < homes_.size(); ++g) {
      out.alone[g][rank] += members - at_home[g];
      out.pieces[g][rank] += (at_home[g] > 0 ? 1 : 0) + (members > at_home[g] ? 1 : 0);
    }
  }

  const MembershipView membership_;
  const Postings& postings_;
  const Homes& homes_;
  const std::uint32_t max_probe_;
  std::vector<std::uint32_t> rank_;
  std::vector<std::uint32_t> seen_;
  std::uint32_t query_ = 0;
};

}  // namespace farvec
