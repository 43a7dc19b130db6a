// Small HNSW graphs on pages, and what a naive search says.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "base/random.h"
#include "coroutines/scheduler.h"
#include "distance/distance.h"
#include "ssd_baseline/paged/change/hnsw_vacuum.h"
#include "ssd_baseline/paged/change/hnsw_writer.h"
#include "ssd_baseline/paged/graph/check.h"
#include "ssd_baseline/paged/search/hnsw_searcher.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::paged::testing {

inline constexpr Ticks kPatient = coroutines::kNoDeadline;

/// Standard deviations of the rows of a cluster, and of the centers: that a search of one cluster
/// meets others, and that it does not.
inline constexpr float kClusterSpread = 10;
inline constexpr float kCentersNear = 12;
inline constexpr float kCentersFar = 30;

/// Clusters of rows of any type; other seeds have other centers.
struct Rows {
  Rows(std::size_t count, const HnswConfig& config, std::uint64_t seed = 1,
       float centers_apart = kCentersNear)
      : dimension(config.dimension), type(config.type), bytes(count * row_bytes()) {
    Random random(seed);
    std::vector<float> centers(8 * dimension);
    for (float& c : centers) c = centers_apart * static_cast<float>(random.normal());
    std::vector<float> row(dimension);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t center = random.below(8) * dimension;
      for (std::uint32_t d = 0; d < dimension; ++d) {
        row[d] = 60 + centers[center + d] + kClusterSpread * static_cast<float>(random.normal());
      }
      std::vector<std::byte> narrow(row_bytes());
      distance::narrow(row.data(), type, dimension, narrow.data());
      distance::to_stored(narrow.data(), type, config.metric, dimension, &bytes[i * row_bytes()]);
    }
  }
  std::size_t row_bytes() const { return dimension * element_bytes(type); }
  std::size_t count() const { return bytes.size() / row_bytes(); }
  std::span<const std::byte> row(std::size_t i) const {
    return std::span(bytes).subspan(i * row_bytes(), row_bytes());
  }
  VectorView view(std::size_t first_rows) const {
    return packed_view(bytes.data(), first_rows, dimension, type);
  }
  VectorView view() const { return view(count()); }

  std::uint32_t dimension;
  ElementType type;
  std::vector<std::byte> bytes;
};

inline HnswConfig small_config(std::uint32_t dimension = 12, std::uint32_t m = 6) {
  HnswConfig config;
  config.dimension = dimension;
  config.m = m;
  config.ef_construction = 60;
  return config;
}

inline graph::HnswGraph build(const Rows& rows, std::size_t count, const HnswConfig& config,
                              std::span<const NodeId> ids = {}, std::uint32_t page_bytes = 8192) {
  graph::HnswOptions options;
  options.levels = hnsw_level_rule(config, page_bytes);
  options.ef_construction = config.ef_construction;
  options.quiet = true;
  options.threads = 2;
  return graph::build_hnsw(rows.view(count), config.metric, ids, options);
}

inline PageStoreOptions store_options(const tests::TemporaryFolder& folder,
                                      std::uint64_t buffer_bytes = 8u << 20) {
  PageStoreOptions options;
  options.folder = folder.path() / "store";
  options.buffer_bytes = buffer_bytes;
  options.log.segment_bytes = 4u << 20;
  options.log.durability = wal::Durability::none;
  return options;
}

/// The first `count` rows in memory, then on pages. Ids are rows.
inline std::unique_ptr<PagedHnsw> make_paged(const PageStoreOptions& options,
                                             const HnswConfig& config, const Rows& rows,
                                             std::size_t count) {
  const graph::HnswGraph graph = build(rows, count, config, {}, options.page_bytes);
  return PagedHnsw::create(options, config, {rows.view(count), {}, &graph, {}});
}

inline std::vector<graph::Candidate> answer(HnswSearcher& searcher,
                                            std::span<const std::byte> query, std::uint32_t list) {
  const Status status = searcher.search({query, list, kPatient});
  EXPECT_TRUE(status.ok()) << status.message();
  return {searcher.found().begin(), searcher.found().end()};
}

inline std::vector<NodeId> ids_of(std::span<const graph::Candidate> found) {
  std::vector<NodeId> ids;
  for (const auto& c : found) ids.push_back(c.id);
  return ids;
}

/// Of the rows for which `there` holds, by distance and id.
template <typename There>
std::vector<graph::Candidate> truth_of(const Rows& rows, Metric metric,
                                       std::span<const std::byte> query, std::size_t k,
                                       There&& there) {
  const auto kernel = distance::pair_kernel(metric, rows.type, rows.dimension);
  std::vector<graph::Candidate> all;
  for (NodeId v = 0; v < rows.count(); ++v) {
    if (there(v)) all.push_back({kernel(query.data(), rows.row(v).data(), rows.dimension), v, 0});
  }
  k = std::min(k, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(k), all.end());
  all.resize(k);
  return all;
}

/// Mean share of the 10 nearest for which `there` holds; nothing else may be found.
template <typename There>
double recall_of(PagedHnsw& hnsw, const Rows& rows, const Rows& queries, std::uint32_t list,
                 There&& there) {
  double hits = 0;
  double wanted = 0;
  run_on_pages(hnsw.store(), [&](PageFetcher& fetcher) {
    HnswSearcher searcher(hnsw, fetcher);
    for (std::size_t q = 0; q < queries.count(); ++q) {
      const auto truth = truth_of(rows, hnsw.config().metric, queries.row(q), 10, there);
      const auto found = answer(searcher, queries.row(q), list);
      wanted += static_cast<double>(truth.size());
      for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_TRUE(there(found[i].id)) << found[i].id;
        if (i < truth.size()) hits += found[i].distance <= truth.back().distance ? 1 : 0;
      }
    }
  });
  return hits / wanted;
}

inline void insert_row(HnswWriter& writer, const Rows& rows, NodeId id) {
  const auto done = writer.insert(id, rows.row(id), kPatient);
  EXPECT_TRUE(done.ok()) << "insert of " << id << ": " << done.status().message();
}
inline void delete_id(HnswWriter& writer, NodeId id) {
  const auto done = writer.mark_deleted(id, kPatient);
  EXPECT_TRUE(done.ok()) << "delete of " << id << ": " << done.status().message();
}
inline HnswVacuumCounts run_vacuum(PagedHnsw& hnsw, PageFetcher& fetcher,
                                   const HnswVacuumOptions& options = {}) {
  HnswVacuum vacuum(hnsw, fetcher, options);
  for (std::size_t steps = 0; steps < 1'000'000; ++steps) {
    const auto more = vacuum.step(kPatient);
    EXPECT_TRUE(more.ok()) << more.status().message();
    if (!more.ok() || !more.value()) break;
  }
  return vacuum.done();
}

inline void expect_sound(PagedHnsw& hnsw, std::uint64_t vertices) {
  const HnswCheckReport report = check_hnsw(hnsw);
  for (const auto& problem : report.problems) ADD_FAILURE() << problem;
  EXPECT_EQ(report.vertices, vertices);
}

}  // namespace farvec::paged::testing
