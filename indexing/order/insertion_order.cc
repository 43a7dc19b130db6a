#include "indexing/order/insertion_order.h"

#include <chrono>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/finite.h"
#include "base/parallel.h"
#include "indexing/order/cluster_order.h"
#include "indexing/order/order_file.h"
#include "indexing/order/row_keys.h"

namespace farvec::indexing {
namespace {

constexpr std::size_t kCheckChunk = 4096;
constexpr std::string_view kFilePrefix = "file:";
constexpr std::pair<OrderKind, std::string_view> kOrderWords[] = {
    {OrderKind::none, "none"},
    {OrderKind::first, "first"},
    {OrderKind::centroid, "centroid"},
    {OrderKind::random, "random"},
    {OrderKind::pca, "pca"},
    {OrderKind::kmeans, "kmeans"},
    {OrderKind::pca_kmeans, "pca+kmeans"},
};

void refuse_bad_rows(const VectorView& rows, unsigned threads) {
  if (rows.count >= kInvalidNode) {
    throw Error("{} vectors are too many for one order: the limit is {}", rows.count,
                kInvalidNode - 1);
  }
  parallel_for(rows.count, kCheckChunk, threads, [&](std::size_t begin, std::size_t end, unsigned) {
    for (std::size_t i = begin; i < end; ++i) {
      if (is_finite_row(rows.row(i), rows.type, rows.dimension)) continue;
      throw Error("row {} holds NaN or infinity: it has no place in an order", i);
    }
  });
}

std::vector<NodeId> rows_as_they_stand(std::size_t count) {
  std::vector<NodeId> order(count);
  std::iota(order.begin(), order.end(), NodeId{0});
  return order;
}

ClusterOrderOptions cluster_options(const OrderOptions& options) {
  return {options.chunk_rows, options.clusters, options.seed, resolve_threads(options.threads)};
}

std::vector<NodeId> find_order(const VectorView& rows, const OrderOptions& options) {
  const unsigned threads = resolve_threads(options.threads);
  refuse_bad_rows(rows, threads);
  switch (options.kind) {
    case OrderKind::first:
      return order_by_keys(first_elements(rows, threads));
    case OrderKind::centroid:
      return order_by_keys(distances_from_mean(rows, threads));
    case OrderKind::random:
      return order_by_keys(random_projections(rows, options.seed, threads));
    case OrderKind::pca:
      return order_by_keys(principal_projections(rows, options.seed, threads));
    case OrderKind::kmeans:
      return order_by_clusters(rows, rows_as_they_stand(rows.count), cluster_options(options));
    case OrderKind::pca_kmeans:
      return order_by_clusters(rows,
                               order_by_keys(principal_projections(rows, options.seed, threads)),
                               cluster_options(options));
    case OrderKind::file:
      return read_order(options.file, rows.count);
    case OrderKind::none:
      break;
  }
  return rows_as_they_stand(rows.count);
}

}  // namespace

OrderOptions parse_order(std::string_view text) {
  OrderOptions options;
  if (text.starts_with(kFilePrefix) && text.size() > kFilePrefix.size()) {
    options.kind = OrderKind::file;
    options.file = text.substr(kFilePrefix.size());
    return options;
  }
  for (const auto& [kind, word] : kOrderWords) {
    if (text != word) continue;
    options.kind = kind;
    return options;
  }
  throw Error(
      "unknown order '{}': use none, first, centroid, random, pca, kmeans, pca+kmeans or file:PATH",
      text);
}

std::string to_string(const OrderOptions& options) {
  for (const auto& [kind, word] : kOrderWords) {
    if (options.kind == kind) return std::string(word);
  }
  return std::string(kFilePrefix) + options.file;
}

RowOrder order_rows(const VectorView& rows, const OrderOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  RowOrder order;
  order.rows = find_order(rows, options);
  order.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return order;
}

}  // namespace farvec::indexing
