// Postings are clusters that change: the members of each cluster and the clusters of each row. For
// cluster_merge.cc.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/membership.h"
#include "base/row_set.h"
#include "base/types.h"
#include "cluster/clustering.h"

namespace farvec::cluster {

/// It only copies, and computes no distances. One thread.
class Postings {
 public:
  /// Makes empty clusters for `rows` rows.
  Postings(std::size_t rows, std::size_t clusters) : row_(rows), members_(clusters) {}

  /// Makes the rows of `membership` that are not out the first rows, in their order. Returns how
  /// many there are.
  std::size_t take(const MembershipView& membership, const RowSet& out);

  std::size_t rows() const { return row_.size(); }
  std::size_t count() const { return members_.size(); }
  std::span<const ClusterId> of(NodeId row) const {
    return {row_[row].clusters.data(), row_[row].count};
  }
  const std::vector<NodeId>& members(ClusterId cluster) const { return members_[cluster]; }
  std::uint64_t memberships() const { return memberships_; }

  ClusterId add_cluster() {
    members_.emplace_back();
    return static_cast<ClusterId>(members_.size() - 1);
  }
  /// Makes these the row's clusters, the first one its own; at most kMaxReplicas.
  void put(NodeId row, std::span<const ClusterId> clusters);

 private:
  struct Row {
    std::array<ClusterId, kMaxReplicas> clusters{};
    std::uint32_t count = 0;
  };

  std::vector<Row> row_;
  std::vector<std::vector<NodeId>> members_;
  std::uint64_t memberships_ = 0;
};

}  // namespace farvec::cluster
