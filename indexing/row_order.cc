#include "indexing/row_order.h"

#include <cstring>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/parallel.h"
#include "graph/vertex_order.h"

namespace farvec::indexing {
namespace {

constexpr std::size_t kRowRun = 4096;

}  // namespace

dataset::VectorSet picked_rows(const VectorView& rows, std::span<const NodeId> order,
                               unsigned threads) {
  dataset::VectorSet picked(order.size(), rows.dimension, rows.type);
  parallel_for(order.size(), kRowRun, resolve_threads(threads),
               [&](std::size_t begin, std::size_t end, unsigned) {
                 for (std::size_t i = begin; i < end; ++i) {
                   std::memcpy(picked.mutable_row(i), rows.row(order[i]), rows.row_bytes());
                 }
               });
  return picked;
}

void reorder(StoredGraph& stored, std::span<const NodeId> order, unsigned threads) {
  FARVEC_CHECK(order.size() == stored.rows.count());
  stored.rows = picked_rows(stored.rows.view(), order, threads);
  stored.graph = graph::reordered(stored.graph.view(), order, threads);
}

void reorder(StoredClusters& stored, std::span<const NodeId> order, unsigned threads) {
  FARVEC_CHECK(order.size() == stored.rows.count());
  stored.rows = picked_rows(stored.rows.view(), order, threads);
  const MembershipView former = stored.clusters.membership();
  std::vector<std::uint64_t> begins{0};
  std::vector<ClusterId> clusters;
  begins.reserve(order.size() + 1);
  clusters.reserve(stored.clusters.clusters.size());
  for (const NodeId row : order) {
    const std::span<const ClusterId> own = former.of(row);
    clusters.insert(clusters.end(), own.begin(), own.end());
    begins.push_back(clusters.size());
  }
  stored.clusters.begins = std::move(begins);
  stored.clusters.clusters = std::move(clusters);
}

}  // namespace farvec::indexing
