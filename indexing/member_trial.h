// What codes of clusters' members cost the searches that read vectors by them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/types.h"
#include "quantization/member_encoder.h"

namespace farvec::indexing {

/// At most 64 queries, each of whose values is one of two members of one cluster; of each the
/// members of the clusters that are nearest to it. The same for any number of threads.
class MemberTrial {
 public:
  /// Neighbours that are looked for among the members, and estimates that are kept of them.
  static constexpr std::uint32_t kResults = 10, kList = 64;

  MemberTrial(const quantization::MemberSet& members, Metric metric, std::uint64_t seed);

  /// The share of the nearest members whose estimates are among the kList lowest, 0 to 1.
  double found(const quantization::MemberEncoder& encoder) const;

 private:
  struct Query {
    std::vector<std::byte> row;
    std::vector<float> values;
    std::vector<ClusterId> clusters;  ///< nearest first
  };
  void make_queries(std::uint64_t seed);
  void find_clusters(Query& query) const;
  /// Of the clusters that queries read.
  void gather_members();
  std::size_t hits(const Query& query, const quantization::MemberEncoder& encoder) const;

  const quantization::MemberSet& members_;
  const Metric metric_;
  std::vector<Query> queries_;
  std::vector<std::vector<NodeId>> lists_;  ///< by cluster; empty of those that nobody reads
};

}  // namespace farvec::indexing
