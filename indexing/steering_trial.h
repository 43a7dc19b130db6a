// SteeringTrial measures what codes cost the searches that they steer: it searches a built graph by
// codes and by the vectors themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/node_record.h"
#include "base/types.h"
#include "quantization/neighbor_encoder.h"
#include "quantization/rabitq.h"

namespace farvec::indexing {

/// A TrialGraph is what a trial searches. All of it is borrowed.
struct TrialGraph {
  VectorView rows;  ///< stored type; row v is vertex v's
  AdjacencyView graph;
  Metric metric = Metric::l2;
};

/// Makes at most 128 queries, fewer for small sets. Each value of a query comes from one of two
/// rows that are neighbours in the graph, about as far from both as rows are from their nearest. So
/// queries are where the rows are, and none of them is a row. The true neighbours of a query are
/// those that a search by the vectors with a long list finds. The trial is the same for any number
/// of threads.
class SteeringTrial {
 public:
  /// How many results are looked for.
  static constexpr std::uint32_t kResults = 10;
  /// What codes may lose against the vectors, with the same list.
  static constexpr double kTolerance = 0.01;
  /// The longest list of the searches that decide.
  static constexpr std::uint32_t kList = 100;
  /// The share of a list with which vectors find what the usual codes find with all of it.
  /// kVertexShare is for codes of vertices; kOneBitShare is for the one bit of codes of edges and
  /// of codes in two parts.
  static constexpr double kVertexShare = 0.4, kOneBitShare = 0.25;

  SteeringTrial(const TrialGraph& graph, std::uint64_t seed, unsigned threads);

  /// These return the share of the true neighbours that searches with this list find, 0 to 1.
  double by_vectors(std::uint32_t list) const;
  double by_codes(const quantization::Rabitq& quantizer, const std::byte* codes,
                  std::uint32_t list) const;
  /// Searches by codes of the edges, which records would hold.
  double by_codes(const quantization::NeighborEncoder& encoder, std::uint32_t list) const;

 private:
  struct Query {
    const std::byte* row;
    float farthest;  ///< distance of the last true neighbour
    std::uint32_t neighbors;
  };
  template <typename Steer>
  double recall(const Steer& steer, std::uint32_t list) const;
  void make_queries(std::uint64_t seed);
  void find_neighbors();
  NodeId other_parent(NodeId v) const;

  const TrialGraph graph_;
  const unsigned threads_;
  const std::vector<NodeId> entries_;
  std::vector<std::byte> bytes_;  ///< the bytes of the queries
  std::vector<Query> queries_;
};

/// Returns true when codes, with lists of 40 and of 100, lose at most the tolerance, or find what
/// the vectors find with a `share` of the list: that is what few bits are known to cost (decisions
/// 003 and 013). Where the vectors find nearly all with the shortest list, codes may lose at most a
/// tenth there. by_codes(list) and by_vectors(list) return shares found.
template <typename Codes, typename Vectors>
bool codes_serve(const Codes& by_codes, const Vectors& by_vectors, double share) {
  for (const std::uint32_t list : {40u, SteeringTrial::kList}) {
    const double found = by_codes(list);
    const auto shorter = static_cast<std::uint32_t>(share * list);
    if (found < by_vectors(list) - SteeringTrial::kTolerance && found < by_vectors(shorter)) {
      return false;
    }
  }
  constexpr double kNearlyAll = 0.98, kTenth = 0.1;
  const double shortest = by_vectors(SteeringTrial::kResults);
  return shortest < kNearlyAll || by_codes(SteeringTrial::kResults) >= shortest - kTenth;
}

/// True when codes lose at most the tolerance with short lists and with long ones.
template <typename Codes, typename Vectors>
bool codes_equal_vectors(const Codes& by_codes, const Vectors& by_vectors) {
  for (const std::uint32_t list : {SteeringTrial::kResults, 40u, SteeringTrial::kList}) {
    if (by_codes(list) < by_vectors(list) - SteeringTrial::kTolerance) return false;
  }
  return true;
}

}  // namespace farvec::indexing
