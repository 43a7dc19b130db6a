// MemberTrial measures what codes of clusters' members cost the searches that choose vectors by
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/types.h"
#include "quantization/member_encoder.h"

namespace farvec::indexing {

/// Holds at most 64 queries. Each value of a query is from one of two members of one cluster, and
/// the members of the clusters nearest to the query are searched. The trial is the same for any
/// number of threads.
class MemberTrial {
 public:
  /// kResults neighbours are looked for among the members, and kList estimates are kept.
  static constexpr std::uint32_t kResults = 10, kList = 64;

  MemberTrial(const quantization::MemberSet& members, Metric metric, std::uint64_t seed);

  /// Returns the share of the nearest members whose estimates are among the kList lowest, 0 to 1.
  double found(const quantization::MemberEncoder& encoder) const;

 private:
  struct Query {
    std::vector<std::byte> row;
    std::vector<float> values;
    std::vector<ClusterId> clusters;  ///< nearest first
  };
  void make_queries(std::uint64_t seed);
  void find_clusters(Query& query) const;
  /// Gathers the members of the clusters that queries read.
  void gather_members();
  std::size_t hits(const Query& query, const quantization::MemberEncoder& encoder) const;

  const quantization::MemberSet& members_;
  const Metric metric_;
  std::vector<Query> queries_;
  std::vector<std::vector<NodeId>>
      lists_;  ///< one for each cluster; empty for those that no query reads
};

}  // namespace farvec::indexing
