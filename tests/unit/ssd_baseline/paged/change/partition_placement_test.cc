#include "ssd_baseline/paged/change/partition_placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "graph/hnsw/hnsw_builder.h"
#include "layout/store/store_page.h"
#include "ssd_baseline/paged/build/colocation.h"
#include "ssd_baseline/paged/change/hnsw_writer.h"
#include "ssd_baseline/paged/change/partition_map.h"
#include "ssd_baseline/paged/graph/check.h"
#include "tests/unit/message_of.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::paged {
namespace {

using ::testing::HasSubstr;
using tests::message_of;
using tests::TemporaryFolder;

constexpr std::uint32_t kDimension = 64;  // 11 vertices to a page of 4 KiB
constexpr std::uint32_t kNodes = 22;      // two pages
constexpr Ticks kForever = coroutines::kNoDeadline;

/// Rows around a few centres.
std::vector<float> cloud(std::size_t count, std::uint64_t seed) {
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

VectorView view_of(const std::vector<float>& rows) {
  return packed_view(rows.data(), rows.size() / kDimension, kDimension, ElementType::f32);
}

/// Remembers what the policy under test was asked last, and what the insert made of its answer.
class Recorder final : public PlacementPolicy {
 public:
  explicit Recorder(PlacementPolicy& policy) : policy_(policy) {}

  Result<Placement> choose(const PlacementRequest& request) override {
    tags.assign(request.partitions.begin(), request.partitions.end());
    return policy_.choose(request);
  }
  Status note(const Placement& placement, PlacementEdit& edit) override {
    page = edit.vertex_number;
    new_page = edit.new_page;
    return policy_.note(placement, edit);
  }

  std::vector<std::uint32_t> tags;
  PageNumber page = layout::kNoPage;
  bool new_page = false;

 private:
  PlacementPolicy& policy_;
};

/// A graph with partitions on pages, and what the tests look at.
class Colocated {
 public:
  Colocated(std::size_t count, double share) : rows_(cloud(count, 1)) {
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

  std::vector<PageNumber> insert_pages(PageFetcher& fetcher) {
    PartitionMap map(*hnsw_, fetcher);
    std::vector<PageNumber> pages;
    for (std::uint32_t p = 0; p < chosen_.size(); ++p) {
      const auto found = map.find(p, kForever);
      EXPECT_TRUE(found.ok()) << found.status().message();
      pages.push_back(found.ok() ? found.value().page : layout::kNoPage);
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
  std::uint32_t vertex_pages() {
    return hnsw_->describe().state.pages_of(layout::HnswPageKind::vertices);
  }

 private:
  static HnswConfig config() { return {kDimension, ElementType::f32, Metric::l2, 4, 32, 1}; }
  PageStoreOptions options() const {
    PageStoreOptions options;
    options.folder = folder_.path();
    options.page_bytes = 4096;
    options.buffer_bytes = 1 << 20;
    return options;
  }

  TemporaryFolder folder_;
  std::vector<float> rows_;
  std::unique_ptr<PagedHnsw> hnsw_;
  std::vector<bool> chosen_;
};

/// Algorithm 2, lines 3 to 19, as it stands, but for partitions without a neighbour.
std::optional<std::uint32_t> naive_partition(const std::vector<std::uint32_t>& tags,
                                             const std::vector<PageNumber>& insert_pages) {
  std::optional<std::uint32_t> best;
  long most = 0;
  for (std::uint32_t p = 0; p < insert_pages.size(); ++p) {
    const auto count = std::count(tags.begin(), tags.end(), p + 1);
    if (insert_pages[p] == layout::kNoPage || count <= most) continue;
    best = p;
    most = count;
  }
  return best;
}

/// Inserts rows and compares every one with the naive algorithm. Answers with what was counted.
PartitionPlacementCounts insert_and_compare(Colocated& graph, const std::vector<float>& rows,
                                            NodeId first_id) {
  PartitionPlacementCounts counts;
  run_on_pages(graph.hnsw().store(), [&](PageFetcher& fetcher) {
    PartitionPlacement policy(graph.hnsw(), fetcher);
    Recorder recorder(policy);
    HnswWriter writer(graph.hnsw(), fetcher, {{}, &recorder});
    const VectorView view = view_of(rows);
    for (std::size_t i = 0; i < view.count; ++i) {
      const auto id = static_cast<NodeId>(first_id + i);
      const auto before = graph.insert_pages(fetcher);
      std::vector<bool> had_room;
      const std::uint32_t level = graph::level_of(graph.hnsw().levels(), id);
      for (const PageNumber page : before) {
        had_room.push_back(page != layout::kNoPage && graph.has_room(fetcher, page, level));
      }
      ASSERT_TRUE(writer.insert(id, {view.row(i), view.row_bytes()}, kForever).ok());
      const auto after = graph.insert_pages(fetcher);
      const auto expected = naive_partition(recorder.tags, before);
      for (std::uint32_t p = 0; p < before.size(); ++p) {
        if (p == expected) continue;
        ASSERT_EQ(after[p], before[p]);
      }
      if (!expected) continue;
      ASSERT_EQ(graph.tag(fetcher, recorder.page), *expected + 1);
      ASSERT_EQ(recorder.page, after[*expected]);
      ASSERT_EQ(recorder.new_page, !had_room[*expected]);
      ASSERT_EQ(after[*expected] == before[*expected], had_room[*expected]);
    }
    counts = policy.counts();
  });
  return counts;
}

TEST(PartitionPlacement, DoesAsTheNaiveAlgorithm) {
  for (const double share : {0.0, 0.3, 1.0}) {
    Colocated graph(600, share);
    const std::uint32_t before = graph.vertex_pages();
    const auto counts = insert_and_compare(graph, cloud(200, 2), 600);
    EXPECT_EQ(counts.placed + counts.fallback, 200u);
    EXPECT_GE(graph.vertex_pages(), before + counts.extended);
    if (share == 0) {
      EXPECT_EQ(counts.placed, 0u);
    }
    if (share == 1) {
      EXPECT_EQ(counts.fallback, 0u);
      EXPECT_EQ(graph.vertex_pages(), before + counts.extended);
    }
    const HnswCheckReport report = check_hnsw(graph.hnsw());
    EXPECT_TRUE(report.ok()) << (report.problems.empty() ? "" : report.problems.front());
    EXPECT_EQ(report.vertices, 800u);
  }
}

TEST(PartitionPlacement, ExtendsAPartitionAgainAndAgain) {
  Colocated graph(300, 1);
  std::vector<float> rows;
  Random random(3);
  const std::vector<float> near = cloud(1, 1);
  for (std::size_t i = 0; i < 80; ++i) {
    for (const float value : near) {
      rows.push_back(value + static_cast<float>(0.01 * random.normal()));
    }
  }
  const auto counts = insert_and_compare(graph, rows, 300);
  EXPECT_EQ(counts.placed, 80u);
  EXPECT_GE(counts.extended, 80u / 11 - 1);  // eleven to a page, the first of which had room
  run_on_pages(graph.hnsw().store(), [&](PageFetcher& fetcher) {
    const auto insert_pages = graph.insert_pages(fetcher);
    std::map<std::uint32_t, std::uint32_t> pages;
    for (PageNumber page = 1; page < graph.hnsw().store().pages(); ++page) {
      ++pages[graph.tag(fetcher, page)];
    }
    const std::uint32_t most = std::max_element(pages.begin(), pages.end(), [](auto& a, auto& b) {
                                 return a.second < b.second;
                               })->first;
    ASSERT_GT(most, 0u);
    EXPECT_GE(pages[most], 5u);
    EXPECT_EQ(graph.tag(fetcher, insert_pages[most - 1]), most);
  });
}

TEST(PartitionPlacement, GoesOnAfterOpening) {
  Colocated graph(300, 0.5);
  insert_and_compare(graph, cloud(60, 5), 300);
  std::vector<PageNumber> before, after;
  run_on_pages(graph.hnsw().store(),
               [&](PageFetcher& fetcher) { before = graph.insert_pages(fetcher); });
  graph.open_again();
  run_on_pages(graph.hnsw().store(),
               [&](PageFetcher& fetcher) { after = graph.insert_pages(fetcher); });
  EXPECT_EQ(after, before);
  insert_and_compare(graph, cloud(60, 6), 360);
  EXPECT_TRUE(check_hnsw(graph.hnsw()).ok());
}

TEST(PartitionMap, BeginsWithTheLastPagesOfChosenPartitions) {
  Colocated graph(400, 0.4);
  run_on_pages(graph.hnsw().store(), [&](PageFetcher& fetcher) {
    const auto insert_pages = graph.insert_pages(fetcher);
    std::map<std::uint32_t, PageNumber> last;
    for (PageNumber page = 1; page < graph.hnsw().store().pages(); ++page) {
      if (graph.tag(fetcher, page) > 0) last[graph.tag(fetcher, page) - 1] = page;
    }
    ASSERT_EQ(insert_pages.size(), graph.chosen().size());
    for (std::uint32_t p = 0; p < insert_pages.size(); ++p) {
      EXPECT_EQ(insert_pages[p], graph.chosen()[p] ? last[p] : layout::kNoPage) << p;
    }
  });
}

TEST(PartitionMap, IsMadeOnceAndOfAllPartitions) {
  Colocated graph(200, 1);
  EXPECT_THAT(message_of([&] { create_partition_map(graph.hnsw(), graph.chosen()); }),
              HasSubstr("has a map"));
  run_on_pages(graph.hnsw().store(), [&](PageFetcher& fetcher) {
    PartitionMap map(graph.hnsw(), fetcher);
    const auto found = map.find(static_cast<std::uint32_t>(graph.chosen().size()), kForever);
    EXPECT_EQ(found.status().code(), StatusCode::data_loss);
  });
}

}  // namespace
}  // namespace farvec::paged
