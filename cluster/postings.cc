#include "cluster/postings.h"

#include <algorithm>

#include "base/check.h"

namespace farvec::cluster {

std::size_t Postings::take(const MembershipView& membership, const RowSet& out) {
  NodeId next = 0;
  for (std::size_t v = 0; v < membership.count(); ++v) {
    if (!out.contains(static_cast<NodeId>(v))) put(next++, membership.of(v));
  }
  return next;
}

void Postings::put(NodeId row, std::span<const ClusterId> clusters) {
  FARVEC_CHECK(clusters.size() <= kMaxReplicas, "row {} in {} clusters", row, clusters.size());
  Row& slots = row_[row];
  const std::span<const ClusterId> before = of(row);
  for (const ClusterId c : before) {
    if (std::find(clusters.begin(), clusters.end(), c) == clusters.end()) {
      std::erase(members_[c], row);
    }
  }
  for (const ClusterId c : clusters) {
    if (std::find(before.begin(), before.end(), c) == before.end()) members_[c].push_back(row);
  }
  memberships_ += clusters.size();
  memberships_ -= slots.count;
  std::copy(clusters.begin(), clusters.end(), slots.clusters.begin());
  slots.count = static_cast<std::uint32_t>(clusters.size());
}

}  // namespace farvec::cluster
