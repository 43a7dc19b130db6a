#include "indexing/order/row_keys.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/parallel.h"
#include "base/random.h"
#include "distance/distance.h"
#include "indexing/order/principal_component.h"

namespace farvec::indexing {
namespace {

constexpr std::size_t kKeyChunk = 4096;

/// Returns key(f32 row) for each row less `origin`.
template <typename Key>
std::vector<float> keys_of(const VectorView& rows, const std::vector<float>& origin,
                           unsigned threads, const Key& key) {
  std::vector<float> keys(rows.count);
  parallel_for(rows.count, kKeyChunk, threads, [&](std::size_t begin, std::size_t end, unsigned) {
    std::vector<float> row(rows.dimension);
    for (std::size_t i = begin; i < end; ++i) {
      distance::widen(rows.row(i), rows.type, rows.dimension, row.data());
      for (std::uint32_t d = 0; d < rows.dimension; ++d) row[d] -= origin[d];
      keys[i] = key(row);
    }
  });
  return keys;
}

std::vector<float> along(const VectorView& rows, const std::vector<float>& origin,
                         const std::vector<float>& direction, unsigned threads) {
  const auto product =
      distance::pair_kernel(Metric::inner_product, ElementType::f32, rows.dimension);
  return keys_of(rows, origin, threads, [&](const std::vector<float>& row) {
    return -product(row.data(), direction.data(), rows.dimension);
  });
}

}  // namespace

std::vector<float> first_elements(const VectorView& rows, unsigned threads) {
  std::vector<float> keys(rows.count);
  parallel_for(rows.count, kKeyChunk, threads, [&](std::size_t begin, std::size_t end, unsigned) {
    for (std::size_t i = begin; i < end; ++i) {
      distance::widen(rows.row(i), rows.type, 1, &keys[i]);
    }
  });
  return keys;
}

std::vector<float> distances_from_mean(const VectorView& rows, unsigned threads) {
  if (rows.count == 0) return {};
  const std::vector<float> zero(rows.dimension, 0.0f);
  const auto l2 = distance::pair_kernel(Metric::l2, ElementType::f32, rows.dimension);
  return keys_of(rows, mean_of(rows, threads), threads, [&](const std::vector<float>& row) {
    return l2(row.data(), zero.data(), rows.dimension);
  });
}

std::vector<float> random_projections(const VectorView& rows, std::uint64_t seed,
                                      unsigned threads) {
  Random random(seed);
  std::vector<float> direction(rows.dimension);
  for (float& value : direction) value = static_cast<float>(random.normal());
  return along(rows, std::vector<float>(rows.dimension, 0.0f), direction, threads);
}

std::vector<float> principal_projections(const VectorView& rows, std::uint64_t seed,
                                         unsigned threads) {
  if (rows.count == 0) return {};
  const std::vector<float> mean = mean_of(rows, threads);
  return along(rows, mean, principal_component(rows, mean, {.seed = seed, .threads = threads}),
               threads);
}

std::vector<NodeId> order_by_keys(const std::vector<float>& keys) {
  std::vector<std::pair<float, NodeId>> places(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const float key = std::isnan(keys[i]) ? std::numeric_limits<float>::infinity() : keys[i];
    places[i] = {key, static_cast<NodeId>(i)};
  }
  std::sort(places.begin(), places.end());
  std::vector<NodeId> order(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) order[i] = places[i].second;
  return order;
}

}  // namespace farvec::indexing
