#include "dataset/recall.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace farvec::dataset {
namespace {

template <typename Iterator>
bool contains(Iterator begin, Iterator end, NodeId id) {
  return std::find(begin, end, id) != end;
}

}  // namespace

std::uint32_t hits_at_k(const ResultRows& results, std::size_t row, const GroundTruth& truth,
                        std::size_t query, std::uint32_t k) {
  const NodeId* ids = results.ids + row * results.stride;
  const bool by_distance = truth.has_distances() && results.distances != nullptr;
  const float* distances = by_distance ? results.distances + row * results.stride : nullptr;
  const NodeId* true_ids = truth.ids_of(query).data();
  float reach = -INFINITY;
  if (by_distance) {
    const float kth = truth.distances_of(query)[k - 1];
    reach = kth + kTieEpsilon * std::abs(kth);
  }
  std::uint32_t hits = 0;
  for (std::uint32_t i = 0; i < k; ++i) {
    if (ids[i] == kInvalidNode || contains(ids, ids + i, ids[i])) continue;
    const bool close = by_distance && distances[i] <= reach;
    hits += close || contains(true_ids, true_ids + k, ids[i]) ? 1 : 0;
  }
  return hits;
}

double recall_at_k(const ResultRows& results, const GroundTruth& truth, std::uint32_t k,
                   std::size_t first_query) {
  if (k == 0 || k > truth.k || k > results.stride) {
    throw Error("recall at {} needs as many true neighbours and results; there are {} and {}", k,
                truth.k, results.stride);
  }
  if (first_query > truth.queries || results.queries > truth.queries - first_query) {
    throw Error("results of queries {} to {}, but the ground truth has {}", first_query,
                first_query + results.queries, truth.queries);
  }
  if (results.queries == 0) return 0.0;
  std::uint64_t hits = 0;
  for (std::size_t row = 0; row < results.queries; ++row) {
    hits += hits_at_k(results, row, truth, first_query + row, k);
  }
  return static_cast<double>(hits) /
         (static_cast<double>(k) * static_cast<double>(results.queries));
}

}  // namespace farvec::dataset
