// Memtables of seeded rows, and what a search of them has to find.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/random.h"
#include "base/row_set.h"
#include "collection/memtable/memtable.h"
#include "distance/distance.h"

namespace farvec::collection::testing {

/// Rows in stored form, around some centres; every `repeat`-th is the one before it again.
class StoredRows {
 public:
  StoredRows(Metric metric, ElementType type, std::uint32_t dimension)
      : metric_(metric), type_(type), dimension_(dimension) {}

  void fill(std::size_t count, std::uint64_t seed, std::size_t repeat = 0) {
    Random random(seed);
    std::vector<float> row(dimension_);
    for (std::size_t i = 0; i < count; ++i) {
      if (repeat == 0 || i % repeat != 0 || i == 0) {
        Random center(random.below(kCenters));
        for (float& x : row) x = static_cast<float>(30 * center.normal() + 10 * random.normal());
      }
      append(row);
    }
  }

  VectorView view() const {
    return packed_view(bytes_.data(), bytes_.size() / row_bytes(), dimension_, type_);
  }
  VectorView slice(std::size_t first, std::size_t count) const {
    return packed_view(bytes_.data() + first * row_bytes(), count, dimension_, type_);
  }
  std::size_t row_bytes() const { return packed_bytes(type_, dimension_); }
  Metric metric() const { return metric_; }

 private:
  static constexpr std::uint64_t kCenters = 8;

  void append(const std::vector<float>& row) {
    std::vector<float> stored(row);
    if (metric_ == Metric::cosine) {
      distance::to_stored(row.data(), ElementType::f32, metric_, dimension_, stored.data());
    }
    bytes_.resize(bytes_.size() + row_bytes());
    distance::narrow(stored.data(), type_, dimension_, bytes_.data() + bytes_.size() - row_bytes());
  }

  const Metric metric_;
  const ElementType type_;
  const std::uint32_t dimension_;
  std::vector<std::byte> bytes_;
};

inline std::uint64_t id_of(NodeId row) {
  return 1'000'000'000'000u + 3 * std::uint64_t{row};
}

inline std::vector<std::uint64_t> ids_of(NodeId first, std::size_t count) {
  std::vector<std::uint64_t> ids(count);
  for (std::size_t i = 0; i < count; ++i) ids[i] = id_of(first + static_cast<NodeId>(i));
  return ids;
}

inline MemtableOptions options_for(const StoredRows& rows, std::uint32_t capacity) {
  MemtableOptions options;
  options.metric = rows.metric();
  options.type = rows.view().type;
  options.dimension = rows.view().dimension;
  options.capacity = capacity;
  options.graph = {.degree = 16, .link_list = 60, .place_rows = 32};
  return options;
}

inline void link_all(Memtable& memtable) {
  LinkScratch scratch;
  while (memtable.link_next(scratch)) {
  }
}

/// By looking at every row, each with the pair kernel.
inline std::vector<graph::Neighbor> nearest_of_all(const VectorView& rows, Metric metric,
                                                   const MemtableQuery& query) {
  const auto pair = distance::pair_kernel(metric, rows.type, rows.dimension);
  std::vector<graph::Neighbor> all;
  for (NodeId row = 0; row < query.count; ++row) {
    if (query.out.contains(row)) continue;
    all.push_back({row, pair(query.vector, rows.row(row), rows.dimension)});
  }
  std::sort(all.begin(), all.end(), [](const graph::Neighbor& a, const graph::Neighbor& b) {
    return a.distance != b.distance ? a.distance < b.distance : a.id < b.id;
  });
  all.resize(std::min<std::size_t>(all.size(), query.k));
  return all;
}

/// Share of the true neighbours that are found, or others as near as the farthest of them.
inline double recall_of(std::span<const graph::Neighbor> found,
                        const std::vector<graph::Neighbor>& truth) {
  const auto hits = std::count_if(found.begin(), found.end(), [&](const graph::Neighbor& n) {
    return n.distance <= truth.back().distance;
  });
  return static_cast<double>(hits) / static_cast<double>(truth.size());
}

inline RowSet every(std::uint32_t step, std::uint32_t count) {
  std::vector<NodeId> rows;
  for (NodeId row = 0; row < count; row += step) rows.push_back(row);
  return RowSet().with(rows);
}

}  // namespace farvec::collection::testing
