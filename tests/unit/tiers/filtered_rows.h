// Rows with attributes, an index of them in a folder, and what a search with a condition must find.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "attributes/condition.h"
#include "base/random.h"
#include "dataset/vector_set.h"
#include "indexing/cluster_recipe.h"
#include "indexing/graph_recipe.h"
#include "indexing/slotted_recipe.h"
#include "layout/collection/index_attributes.h"
#include "search/core/batch_search.h"
#include "search/core/search_shape.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::tiers {

inline constexpr std::uint32_t kRows = 400;
inline constexpr std::uint32_t kDimension = 12;
inline constexpr std::uint32_t kQueries = 6;
inline constexpr std::uint32_t kNeighbours = 10;

inline dataset::VectorSet random_rows(std::uint64_t seed, std::size_t count) {
  Random random(seed);
  dataset::VectorSet rows(count, kDimension, ElementType::f32);
  for (std::size_t i = 0; i < count; ++i) {
    auto* const row = reinterpret_cast<float*>(rows.mutable_row(i));
    for (std::uint32_t d = 0; d < kDimension; ++d) row[d] = static_cast<float>(random.uniform());
  }
  return rows;
}

class FilteredRows {
 protected:
  using Value = layout::Value;

  std::filesystem::path path() const { return folder_.path() / "index"; }

  static std::vector<Value> values_of(NodeId row) {
    const Value price = row % 9 == 0 ? Value() : Value(std::int64_t{row % 100});
    return {price, std::vector<std::string>{"t" + std::to_string(row % 4)}};
  }

  /// Builds the index without attributes.
  layout::Manifest build(const std::string& layout) const {
    indexing::Source source{indexing::describe_source({"rows", "rows"}, rows_.view(), Metric::l2),
                            rows_.view()};
    const layout::WriteOptions write{.threads = 1, .quiet = true};
    const graph::VamanaOptions options{.degree = 12, .list = 24, .threads = 1, .quiet = true};
    if (layout == "slotted") {
      const auto recipe = indexing::resolve_slotted({}, rows_.view());
      const auto built = indexing::build_slotted_graph(std::move(source), recipe, options);
      return indexing::write_slotted(path(), built, recipe, write);
    }
    for (const layout::ClusterLayoutKind kind : layout::kClusterLayouts) {
      if (layout != to_string(kind)) continue;
      cluster::ClusteringOptions clustering;
      clustering.clusters = 30;
      clustering.quiet = true;
      return indexing::write_clusters(
          path(), indexing::build_clusters(std::move(source), clustering), {.layout = kind}, write);
    }
    return indexing::write_graph(path(), indexing::build_graph(std::move(source), options),
                                 {.layout = layout::parse_layout_kind(layout)}, write);
  }

  void write_attributes(const layout::Manifest& written) const {
    layout::Tuples tuples;
    for (NodeId row = 0; row < kRows; ++row) tuples.append(schema_, values_of(row));
    layout::write_index_attributes(path(), written, schema_, tuples.view());
  }

  struct Found {
    dataset::GroundTruth neighbours;
    search::QueryCounts counts;
    std::vector<std::shared_ptr<const search::ResultAttributes>> attributes;
  };

  using Cores = std::vector<std::unique_ptr<search::SearchCore>>;

  /// A choice with a list, or clusters, that find all.
  static search::SearchChoice choose_all(bool cluster, std::uint32_t list = kRows) {
    if (cluster) return search::ProbeChoice{.clusters = 30, .list = kRows};
    return search::GraphChoice{.list = list};
  }
  static search::SearchShape shape_of(std::uint32_t k, const search::SearchChoice& choice) {
    search::SearchShape shape{.slots = 3, .k = k};
    search::set_largest(shape, choice);
    return shape;
  }
  static Found search(const Cores& cores, const VectorView& queries, search::BatchParameters batch,
                      std::uint32_t k, const search::SearchChoice& choice) {
    Found found;
    batch.search = search::searchable(search::SearchParameters::make(k, choice));
    batch.attributes = &found.attributes;
    found.counts = search::run_batch(cores, queries, batch, found.neighbours).totals;
    return found;
  }

  /// The rows that meet the condition with their distances, the nearest first.
  std::vector<std::pair<float, NodeId>> nearest(const attributes::Condition& condition,
                                                std::size_t query) const {
    std::vector<std::pair<float, NodeId>> near;
    const auto* const q = reinterpret_cast<const float*>(queries_.view().row(query));
    for (NodeId row = 0; row < kRows; ++row) {
      layout::Tuples tuple;
      tuple.append(schema_, values_of(row));
      if (evaluate(condition, layout::Tuple(tuple.view().row(0)), row) != attributes::Truth::yes) {
        continue;
      }
      const auto* const r = reinterpret_cast<const float*>(rows_.view().row(row));
      float sum = 0;
      for (std::uint32_t d = 0; d < kDimension; ++d) sum += (q[d] - r[d]) * (q[d] - r[d]);
      near.emplace_back(sum, row);
    }
    std::sort(near.begin(), near.end());
    return near;
  }

  void expect_nearest(const attributes::Condition& condition, const Found& found) {
    for (std::size_t q = 0; q < kQueries; ++q) {
      std::vector<NodeId> rows;
      for (const auto& [distance, row] : nearest(condition, q)) rows.push_back(row);
      EXPECT_EQ(found.counts.matches, rows.size() * kQueries);
      rows.resize(kNeighbours, kInvalidNode);
      const NodeId* const ids = found.neighbours.ids.data() + q * kNeighbours;
      EXPECT_EQ(std::vector<NodeId>(ids, ids + kNeighbours), rows) << "query " << q;
      const layout::Tuples tuples = found.attributes[q]->read();
      for (std::size_t i = 0; i < tuples.count(); ++i) {
        EXPECT_EQ(layout::Tuple(tuples.view().row(i)).value(schema_, 1), values_of(ids[i])[1]);
      }
    }
  }

  const layout::Schema schema_ = layout::parse_schema("price: i64, tags: set");
  const dataset::VectorSet rows_ = random_rows(3, kRows);
  const dataset::VectorSet queries_ = random_rows(4, kQueries);
  tests::TemporaryFolder folder_;
};

}  // namespace farvec::tiers
