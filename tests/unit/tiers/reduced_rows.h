// Rows, an index of fewer bits of them in a folder, and what searches of it must find.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "distance/distance.h"
#include "distance/reference.h"
#include "indexing/cluster_recipe.h"
#include "indexing/graph_recipe.h"
#include "indexing/reduced_source.h"
#include "indexing/slotted_recipe.h"
#include "search/core/asked_search.h"
#include "search/core/batch_search.h"
#include "search/core/queries.h"
#include "search/kinds/index_loader.h"
#include "tests/unit/temporary_folder.h"
#include "tiers/index_on_tier.h"

namespace farvec::tiers {

inline constexpr std::uint32_t kCount = 300;
inline constexpr std::uint32_t kLength = 19;  // its bits do not fill their last byte
inline constexpr std::uint32_t kAsked = 5;
inline constexpr std::uint32_t kNearest = 10;

inline dataset::VectorSet normal_rows(std::uint64_t seed, std::size_t count) {
  Random random(seed);
  dataset::VectorSet rows(count, kLength, ElementType::f32);
  for (std::size_t i = 0; i < count; ++i) {
    auto* const row = reinterpret_cast<float*>(rows.mutable_row(i));
    for (std::uint32_t d = 0; d < kLength; ++d) row[d] = static_cast<float>(random.normal());
  }
  return rows;
}

/// An index in a folder, and what searches of it must find.
class ReducedRows {
 protected:
  using Cores = std::vector<std::unique_ptr<search::SearchCore>>;

  std::filesystem::path path() const { return folder_.path() / "index"; }

  layout::Manifest build(const std::string& layout, const indexing::ReductionWish& wish,
                         Metric metric) {
    metric_ = metric;
    layout::Manifest manifest = indexing::describe_source({"rows", "rows"}, rows_.view(), metric);
    stored_.emplace(indexing::stored_copy(rows_.view(), metric, 1));
    const indexing::ReducedSource reduced({std::move(manifest), stored_->view()}, wish, 1);
    const layout::Manifest written = write(layout, reduced.source());
    reduced.write_second(path(), written, {.quiet = true});
    return written;
  }

  layout::Manifest write(const std::string& layout, indexing::Source source) const {
    const layout::WriteOptions options{.threads = 1, .quiet = true};
    const graph::VamanaOptions graph{.degree = 12, .list = 24, .threads = 1, .quiet = true};
    if (layout == "slotted") {
      const auto recipe = indexing::resolve_slotted({}, source.rows);
      const auto built = indexing::build_slotted_graph(std::move(source), recipe, graph);
      return indexing::write_slotted(path(), built, recipe, options);
    }
    for (const layout::ClusterLayoutKind kind : layout::kClusterLayouts) {
      if (layout != to_string(kind)) continue;
      cluster::ClusteringOptions clustering;
      clustering.clusters = 20;
      clustering.quiet = true;
      return indexing::write_clusters(path(),
                                      indexing::build_clusters(std::move(source), clustering),
                                      {.layout = kind}, options);
    }
    return indexing::write_graph(path(), indexing::build_graph(std::move(source), graph),
                                 {.layout = layout::parse_layout_kind(layout)}, options);
  }

  void open(const std::string& tier, const std::string& second_tier = "") {
    directory_.emplace(layout::IndexDirectory::open(path()));
    index_.emplace(search::load_search_index(*directory_, {.quiet = true}));
    records_.emplace(*directory_);
    spec_ = parse_tier(tier);
    tier_ = std::make_unique<IndexOnTier>(
        *spec_,
        TierContext{.memory = &*records_,
                    .index = &*index_,
                    .second_tier = second_tier.empty() ? nullptr : parse_tier(second_tier)});
    queries_.emplace(search::fit_queries(normal_rows(2, kAsked), "queries", form()));
  }

  search::RowForm form() const { return search::form_of(directory_->manifest(), *index_); }

  search::SearchChoice choice(std::uint32_t list) const {
    if (directory_->manifest().is_cluster()) {
      return search::ProbeChoice{.clusters = 20, .list = list};
    }
    return search::GraphChoice{.list = list};
  }

  struct Found {
    dataset::GroundTruth neighbours;
    search::QueryCounts counts;
  };

  Found search(std::uint32_t list, search::BatchParameters batch = {}) {
    search::SearchShape shape{.slots = 2, .k = kNearest};
    search::set_largest(shape, choice(kCount));
    if (directory_->manifest().is_cluster()) shape.list = kCount;
    const Cores cores = tier_->make_cores(shape);
    Found found;
    batch.search = search::searchable(search::SearchParameters::make(kNearest, choice(list)));
    found.counts = search::run_batch(cores, queries_->view(), batch, found.neighbours).totals;
    return found;
  }

  /// Returns the nearest rows of all, by the oracle.
  std::vector<NodeId> nearest(std::size_t query) const {
    return nearest_of(stored_->view(), query);
  }

  /// Returns the nearest rows after both sides were rounded to halves.
  std::vector<NodeId> nearest_of_halves(std::size_t query) const {
    dataset::VectorSet halves(kCount, kLength, ElementType::f16);
    for (NodeId row = 0; row < kCount; ++row) {
      distance::narrow(reinterpret_cast<const float*>(stored_->view().row(row)), ElementType::f16,
                       kLength, halves.mutable_row(row));
    }
    return nearest_of(halves.view(), query);
  }

  std::vector<NodeId> nearest_of(const VectorView& rows, std::size_t query) const {
    std::vector<NodeId> ids = by_distance(rows, query);
    ids.resize(kNearest);
    return ids;
  }
  std::vector<NodeId> all_by_distance(std::size_t query) const {
    return by_distance(stored_->view(), query);
  }
  std::vector<NodeId> by_distance(const VectorView& rows, std::size_t query) const {
    std::vector<std::pair<double, NodeId>> near;
    for (NodeId row = 0; row < kCount; ++row) {
      near.emplace_back(
          distance::reference::distance(metric_, rows.type, queries_->view().row(query),
                                        rows.row(row), kLength),
          row);
    }
    std::sort(near.begin(), near.end());
    std::vector<NodeId> ids;
    for (const auto& [distance, row] : near) ids.push_back(row);
    return ids;
  }

  void expect_nearest(const Found& found) const {
    for (std::size_t q = 0; q < kAsked; ++q) {
      const NodeId* const ids = found.neighbours.ids.data() + q * kNearest;
      EXPECT_EQ(std::vector<NodeId>(ids, ids + kNearest), nearest(q)) << "query " << q;
    }
  }

  tests::TemporaryFolder folder_;
  const dataset::VectorSet rows_ = normal_rows(1, kCount);
  Metric metric_ = Metric::cosine;
  std::optional<dataset::VectorSet> stored_;
  std::optional<layout::IndexDirectory> directory_;
  std::optional<search::SearchIndex> index_;
  std::optional<IndexRecords> records_;
  TierSpecPointer spec_;
  std::unique_ptr<IndexOnTier> tier_;
  std::optional<dataset::VectorSet> queries_;
};

}  // namespace farvec::tiers
