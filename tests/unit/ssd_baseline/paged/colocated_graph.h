// Graphs on pages whose vertices are in partitions.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/random.h"
#include "graph/hnsw/hnsw_builder.h"
#include "layout/store/store_page.h"
#include "ssd_baseline/paged/build/colocation.h"
#include "ssd_baseline/paged/change/hnsw_writer.h"
#include "ssd_baseline/paged/graph/paged_hnsw.h"
#include "ssd_baseline/paged/placement/partition_map.h"
#include "ssd_baseline/paged/placement/partition_placement.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::paged::colocated {

inline constexpr std::uint32_t kDimension = 64;  // 11 vertices to a page of 4 KiB
inline constexpr std::uint32_t kNodes = 22;      // two pages
inline constexpr Ticks kForever = coroutines::kNoDeadline;
inline constexpr std::uint32_t kAnyShare = 1'000'000;  // every page may be an insert page

/// Rows around a few centres.
inline std::vector<float> cloud(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  Random of_centers(4);
  std::vector<float> centers(16 * kDimension), rows;
  for (float& value : centers) value = static_cast<float>(10 * of_centers.normal());
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t center = random.below(16) * kDimension;
    for (std::uint32_t d = 0; d < kDimension; ++d) {
      rows.push_back(centers[center + d] + static_cast<float>(random.normal()));
    }
  }
  return rows;
}

inline VectorView view_of(const std::vector<float>& rows) {
  return packed_view(rows.data(), rows.size() / kDimension, kDimension, ElementType::f32);
}

/// A graph with partitions on pages, and what the tests look at.
class Colocated {
 public:
  /// `most_insert_pages` is HnswConfig's.
  Colocated(std::size_t count, double share, std::uint32_t most_insert_pages = 0)
      : most_insert_pages_(most_insert_pages), rows_(cloud(count, 1)) {
    graph::HnswOptions build;
    build.levels = hnsw_level_rule(config(), options().page_bytes);
    build.ef_construction = config().ef_construction;
    build.quiet = true;
    const graph::HnswGraph graph = graph::build_hnsw(view_of(rows_), Metric::l2, {}, build);
    const layout::HnswShape shape{options().page_bytes, kDimension, ElementType::f32, config().m,
                                  build.levels.max_level};
    const Colocation colocation(graph, shape, {.partition_nodes = kNodes});
    hnsw_ =
        PagedHnsw::create(options(), config(), {view_of(rows_), {}, &graph, colocation.order()});
    chosen_ = choose_insert_partitions(colocation.plan(), graph.base().view(), share);
    create_partition_map(*hnsw_, chosen_);
  }

  PagedHnsw& hnsw() { return *hnsw_; }
  const std::vector<bool>& chosen() const { return chosen_; }
  std::size_t count() const { return rows_.size() / kDimension; }

  void open_again() {
    hnsw_.reset();
    hnsw_ = PagedHnsw::open(options());
  }

  layout::PartitionEntry entry(PageFetcher& fetcher, std::uint32_t partition) {
    FetchCounts counts;
    const auto found = PartitionMap(*hnsw_, fetcher).find(partition, kForever, counts);
    EXPECT_TRUE(found.ok()) << found.status().message();
    return found.value().entry;
  }
  layout::HnswState state(PageFetcher& fetcher) {
    FetchCounts counts;
    return hnsw_->state(fetcher, kForever, counts).value();
  }
  std::vector<PageNumber> insert_pages(PageFetcher& fetcher) {
    PartitionMap map(*hnsw_, fetcher);
    FetchCounts counts;
    std::vector<PageNumber> pages;
    for (std::uint32_t p = 0; p < chosen_.size(); ++p) {
      const auto found = map.find(p, kForever, counts);
      EXPECT_TRUE(found.ok()) << found.status().message();
      pages.push_back(found.ok() ? found.value().entry.insert_page : layout::kNoPage);
    }
    return pages;
  }

  std::uint32_t tag(PageFetcher& fetcher, PageNumber page) {
    FetchCounts counts;
    const auto pin = fetcher.fetch(page, kForever, counts);
    return pin.value().read([](std::span<const std::byte> bytes) {
      return layout::StorePage(bytes).header().tag & ~layout::kHnswFreeListBit;
    });
  }
  bool has_room(PageFetcher& fetcher, PageNumber page, std::uint32_t level) {
    FetchCounts counts;
    const auto pin = fetcher.fetch(page, kForever, counts);
    return pin.value().read([&](std::span<const std::byte> bytes) {
      return layout::has_vertex_room(hnsw_->shape(), bytes, level);
    });
  }
  /// Writes an entry into the first page of the map as no program does: it counts nothing.
  void damage_map(PageFetcher& fetcher, std::uint32_t partition, PageNumber insert_page) {
    FetchCounts counts;
    const PartitionMap map(*hnsw_, fetcher);
    auto page = fetcher.fetch(state(fetcher).partitions, kForever, counts);
    PagePin* const pins[] = {&page.value()};
    const auto done = hnsw_->store().update(pins, [&](PageEditor& editor) {
      return map.write(editor, 0, partition, {.insert_page = insert_page});
    });
    ASSERT_TRUE(done.ok()) << done.status().message();
  }
  std::uint32_t vertex_pages() {
    return hnsw_->describe().state.pages_of(layout::HnswPageKind::vertices);
  }

 private:
  HnswConfig config() const {
    return {kDimension, ElementType::f32, Metric::l2, 4, 32, 1, most_insert_pages_};
  }
  PageStoreOptions options() const {
    PageStoreOptions options;
    options.folder = folder_.path();
    options.page_bytes = 4096;
    options.buffer_bytes = 1 << 20;
    return options;
  }

  const std::uint32_t most_insert_pages_;
  tests::TemporaryFolder folder_;
  std::vector<float> rows_;
  std::unique_ptr<PagedHnsw> hnsw_;
  std::vector<bool> chosen_;
};

/// Says, in place of the neighbours, which partition each vertex belongs to.
class Steered final : public PlacementPolicy {
 public:
  Steered(PagedHnsw& hnsw, PageFetcher& fetcher) : policy(hnsw, fetcher) {}

  Result<Placement> choose(const PlacementRequest& request) override {
    PlacementRequest steered = request;
    steered.partitions = tags;
    return policy.choose(steered);
  }
  Status note(const Placement& placement, PlacementEdit& edit) override {
    return policy.note(placement, edit);
  }
  const PartitionPlacementCounts& counts() { return policy.counts(); }

  std::vector<std::uint32_t> tags;  ///< partitions plus one: the one that comes most often first
  PartitionPlacement policy;
};

/// Inserts rows one after the other, each into the partition that is named. They are on the lowest
/// layer alone, and so of one size.
class Stream {
 public:
  Stream(Colocated& graph, PageFetcher& fetcher, NodeId first = 100'000)
      : hnsw_(graph.hnsw()),
        next_(first),
        policy_(graph.hnsw(), fetcher),
        writer_(graph.hnsw(), fetcher, {{}, &policy_}) {}

  /// Inserts rows that belong to `partition`.
  void insert(std::uint32_t partition, int rows) {
    policy_.tags = {partition + 1};
    for (; rows > 0; --rows) insert_one();
  }
  /// Inserts a row that belongs to no partition.
  void insert_anywhere() {
    policy_.tags.clear();
    insert_one();
  }
  const PartitionPlacementCounts& counts() { return policy_.counts(); }
  HnswWriter& writer() { return writer_; }
  std::vector<NodeId> ids;  ///< in the order of the inserts

 private:
  void insert_one() {
    while (graph::level_of(hnsw_.levels(), next_) > 0) ++next_;
    const std::vector<float> row = cloud(1, 1000 + next_);
    const auto done = writer_.insert(next_, std::as_bytes(std::span(row)), kForever);
    ASSERT_TRUE(done.ok()) << done.status().message();
    ids.push_back(next_++);
  }

  PagedHnsw& hnsw_;
  NodeId next_;
  Steered policy_;
  HnswWriter writer_;
};

}  // namespace farvec::paged::colocated
