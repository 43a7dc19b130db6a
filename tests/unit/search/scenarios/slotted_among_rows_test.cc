// Searches of slotted pages among given rows alone, compared with all distances to these rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "indexing/slotted_recipe.h"
#include "layout/pages/slotted_page.h"
#include "layout/pages/slotted_record.h"
#include "search/core/core_loop.h"
#include "search/disk/slotted_disk.h"
#include "tests/unit/search/part_fixture.h"
#include "tests/unit/search/task_list_feed.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::search {
namespace {

using layout::PayloadKind;
using slotted::PoolKind;

constexpr std::size_t kPagedRows = 1500;
constexpr std::uint32_t kPagedDimension = 27;
constexpr std::uint32_t kPagedList = 50;
constexpr std::uint32_t kPagedWanted = 10;
constexpr NodeId kNone = 0;  ///< where a set of no rows points to

/// Small integers; a third of the rows are copies of rows before them.
std::vector<float> paged_values() {
  Random random(15);
  std::vector<float> values;
  for (std::size_t row = 0; row < kPagedRows; ++row) {
    const std::size_t from = row % 3 == 2 ? random.below(row) : row;
    for (std::uint32_t d = 0; d < kPagedDimension; ++d) {
      values.push_back(from < row ? values[from * kPagedDimension + d]
                                  : static_cast<float>(random.below(9)) - 4);
    }
  }
  return values;
}

struct PagedShape {
  std::string name;
  PayloadKind payload = PayloadKind::vector;
  bool rerank = false;  ///< by vectors beside the pages
  PoolKind pool = PoolKind::record;
};

class SlottedAmongRows : public testing::TestWithParam<PagedShape> {
 protected:
  static constexpr std::size_t kQueries = 8;

  void SetUp() override {
    const VectorView rows =
        packed_view(values_.data(), kPagedRows, kPagedDimension, ElementType::f32);
    const indexing::SlottedRecipe recipe{
        .payload = GetParam().payload, .code_bits = 2, .rerank = GetParam().rerank};
    graph::VamanaOptions options;
    options.degree = 16;
    options.list = 30;
    options.quiet = true;
    const auto built = indexing::build_slotted_graph(
        {indexing::describe_source({"rows.fbin", "rows"}, rows, Metric::l2), rows}, recipe,
        options);
    const std::string path = folder_.file("index");
    indexing::write_slotted(path, built, recipe, {.threads = 1, .quiet = true});
    directory_ = std::make_unique<layout::IndexDirectory>(layout::IndexDirectory::open(path));
    const layout::LoadOptions load{.threads = 1, .quiet = true};
    index_ =
        std::make_unique<slotted::SlottedIndex>(slotted::load_slotted_index(*directory_, load));
    const slotted::SlottedSearchOptions searches{.pool = GetParam().pool,
                                                 .slots = 3,
                                                 .list = kPagedList,
                                                 .rerank = GetParam().rerank ? 20u : 0u};
    disk_ = std::make_unique<SlottedDisk>(
        *directory_, *index_, SlottedDiskOptions{.path = "", .searches = searches, .load = load});
    read_payloads();
  }

  void read_payloads() {
    const layout::SlottedGeometry geometry = directory_->manifest().slotted_geometry();
    const HugeBuffer region = directory_->load_region(layout::kRecordsRegion, {.quiet = true});
    std::vector<NodeId> neighbors(geometry.scratch_ids());
    payloads_.resize(kPagedRows);
    for (std::uint32_t number = 0; number < geometry.pages; ++number) {
      const auto page = layout::SlottedPage::parse(
          geometry, number,
          region.span().subspan(geometry.page_offset(number), geometry.page_bytes));
      for (std::uint32_t i = 0; i < page.value().count(); ++i) {
        const layout::PageSlot slot = page.value().slot(i);
        const auto record =
            layout::decode_slotted_record(geometry, page.value().record(slot), neighbors);
        const std::byte* const payload = record.value().vector;
        payloads_[slot.id].assign(payload, payload + geometry.payload_bytes);
      }
    }
  }

  std::unique_ptr<SearchCore> core() const {
    return std::make_unique<CoreLoop>(CoreFibers{3}, [this](coroutines::Scheduler& scheduler) {
      return disk_->make_part({disk::DiskThread::any}, scheduler);
    });
  }
  const std::byte* row(std::size_t i) const {
    return reinterpret_cast<const std::byte*>(&values_[i * kPagedDimension]);
  }
  static std::vector<NodeId> rows_among(std::size_t count) {
    std::vector<NodeId> rows(kPagedRows);
    std::iota(rows.begin(), rows.end(), NodeId{0});
    Random random(2);
    for (std::size_t i = 0; i < count; ++i)
      std::swap(rows[i], rows[i + random.below(kPagedRows - i)]);
    rows.resize(count);
    std::sort(rows.begin(), rows.end());
    return rows;
  }
  TaskListFeed searches(std::span<const NodeId> only) const {
    TaskListFeed feed(kQueries, 60e6);
    for (std::size_t q = 0; q < kQueries; ++q) {
      feed.tasks()[q].request.query = row(q * 5);
      feed.tasks()[q].request.parameters =
          SearchParameters::make(kPagedWanted, GraphChoice{.list = kPagedList}).value();
      feed.tasks()[q].request.only = only;
    }
    return feed;
  }
  /// The rows that are compared: all, or the nearest by code.
  std::vector<NodeId> compared(const slotted::PreparedQuery& query,
                               std::span<const NodeId> only) const {
    std::vector<NodeId> rows(only.begin(), only.end());
    if (rows.size() <= kPagedList) return rows;
    std::vector<float> estimates(kPagedRows);
    for (const NodeId id : rows) index_->estimate(query, &id, 1, &estimates[id]);
    std::sort(rows.begin(), rows.end(), [&](NodeId a, NodeId b) {
      return std::pair(estimates[a], a) < std::pair(estimates[b], b);
    });
    rows.resize(kPagedList);
    return rows;
  }
  /// By vectors where these are read, else by all bits of the codes.
  std::vector<std::pair<float, NodeId>> nearest(const std::byte* vector,
                                                std::span<const NodeId> only) const {
    slotted::PreparedQuery query;
    index_->prepare(vector, query);
    const bool exact = GetParam().rerank || GetParam().payload == PayloadKind::vector;
    std::vector<std::pair<float, NodeId>> all;
    for (const NodeId id : compared(query, only)) {
      all.emplace_back(
          exact ? distance(vector, id) : index_->refine(query, id, payloads_[id].data()), id);
    }
    std::sort(all.begin(), all.end());
    all.resize(std::min<std::size_t>(all.size(), kPagedWanted));
    return all;
  }
  /// By their vectors, all of them.
  std::vector<std::pair<float, NodeId>> nearest_of(const std::byte* vector,
                                                   std::span<const NodeId> rows) const {
    std::vector<std::pair<float, NodeId>> all;
    for (const NodeId id : rows) all.emplace_back(distance(vector, id), id);
    std::sort(all.begin(), all.end());
    return all;
  }
  float distance(const std::byte* vector, NodeId id) const {
    float sum = 0;
    for (std::uint32_t d = 0; d < kPagedDimension; ++d) {
      const float step = reinterpret_cast<const float*>(vector)[d] -
                         values_[id * std::size_t{kPagedDimension} + d];
      sum += step * step;
    }
    return sum;
  }
  void expect_found(const TaskListFeed::Task& task, std::span<const NodeId> only) const {
    ASSERT_TRUE(task.answer.status.ok()) << task.answer.status.message();
    const auto expected = nearest(task.request.query, only);
    ASSERT_EQ(task.answer.found, expected.size());
    for (std::uint32_t i = 0; i < task.answer.found; ++i) {
      EXPECT_EQ(task.id_room[i], expected[i].second) << i;
      EXPECT_EQ(task.distance_room[i], expected[i].first) << i;
    }
  }

  const std::vector<float> values_ = paged_values();
  tests::TemporaryFolder folder_;
  std::unique_ptr<layout::IndexDirectory> directory_;
  std::unique_ptr<slotted::SlottedIndex> index_;
  std::unique_ptr<SlottedDisk> disk_;
  std::vector<std::vector<std::byte>> payloads_;  ///< [id]
};

INSTANTIATE_TEST_SUITE_P(
    Shapes, SlottedAmongRows,
    testing::Values(PagedShape{"vectors", PayloadKind::vector, false, PoolKind::record},
                    PagedShape{"vectorsWithoutPool", PayloadKind::vector, false, PoolKind::none},
                    PagedShape{"vectorsInPages", PayloadKind::vector, false, PoolKind::page},
                    PagedShape{"codes", PayloadKind::code, false, PoolKind::record},
                    PagedShape{"codesAndVectors", PayloadKind::code, true, PoolKind::record}),
    [](const auto& shape) { return shape.param.name; });

TEST_P(SlottedAmongRows, TheNearestOfThemAreFoundAndCounted) {
  const std::uint64_t page_bytes = index_->geometry().page_bytes;
  const auto one = core();
  for (const std::size_t size : {0u, 1u, 9u, 10u, 11u, 50u, 51u, 130u, 1500u}) {
    const std::vector<NodeId> only = rows_among(size);
    TaskListFeed feed = searches({only.data() != nullptr ? only.data() : &kNone, only.size()});
    one->run(feed);
    for (const auto& task : feed.tasks()) {
      expect_found(task, only);
      const QueryCounts& counts = task.answer.counts;
      const std::uint64_t compared = std::min<std::uint64_t>(size, kPagedList);
      EXPECT_EQ(counts.hops, 0u);
      EXPECT_EQ(counts.estimates, size > kPagedList ? size : 0);
      EXPECT_EQ(counts.distances, compared);
      EXPECT_LE(counts.reads, compared);
      if (GetParam().rerank) {
        EXPECT_EQ(counts.rerank_reads, counts.reads);
        EXPECT_EQ(counts.reads > 0, size > 0);
        EXPECT_EQ(counts.cache_hits + counts.pool_misses, 0u);
        EXPECT_GE(counts.bytes, counts.reads * 512);
      } else {
        EXPECT_EQ(counts.rerank_reads, 0u);
        EXPECT_EQ(counts.cache_hits + counts.pool_misses, compared);
        EXPECT_LE(counts.reads, counts.pool_misses);
        EXPECT_EQ(counts.bytes, counts.reads * page_bytes);
      }
    }
  }
}

TEST_P(SlottedAmongRows, RowsThatAreOutAreNotResults) {
  const std::vector<NodeId> only = rows_among(300);
  std::vector<NodeId> gone;
  std::vector<NodeId> left;
  for (const NodeId row : only) (row % 2 == 0 ? gone : left).push_back(row);
  const RowSet out = RowSet().with(gone);
  TaskListFeed feed = searches(only);
  for (auto& task : feed.tasks()) task.request.out = &out;
  core()->run(feed);
  for (const auto& task : feed.tasks()) expect_found(task, left);
}

/// Of all rows, and of some: codes choose none of them.
TEST_P(SlottedAmongRows, ExactSearchesCompareEveryVector) {
  const std::vector<NodeId> all = rows_among(kPagedRows);
  const std::vector<NodeId> some = rows_among(300);
  const bool vectors = GetParam().rerank || GetParam().payload == PayloadKind::vector;
  for (const std::vector<NodeId>* only : {&all, &some}) {
    TaskListFeed feed = searches(only == &all ? std::span<const NodeId>() : *only);
    for (auto& task : feed.tasks()) task.request.exact = true;
    core()->run(feed);
    for (const auto& task : feed.tasks()) {
      if (!vectors) {
        EXPECT_EQ(task.answer.status.code(), StatusCode::invalid_argument);
        continue;
      }
      ASSERT_TRUE(task.answer.status.ok()) << task.answer.status.message();
      const auto expected = nearest_of(task.request.query, *only);
      ASSERT_EQ(task.answer.found, kPagedWanted);
      for (std::uint32_t i = 0; i < kPagedWanted; ++i) {
        EXPECT_EQ(task.id_room[i], expected[i].second) << i;
      }
      EXPECT_EQ(task.answer.counts.distances, only->size());
      EXPECT_EQ(task.answer.counts.estimates, 0u);
      EXPECT_EQ(task.answer.counts.scans, 1u);
    }
  }
}

TEST_P(SlottedAmongRows, SearchesOfAllRowsComeAfterThem) {
  const std::vector<NodeId> only = rows_among(300);
  TaskListFeed scans = searches(only);
  TaskListFeed alone = searches({});
  TaskListFeed after = searches({});
  core()->run(alone);
  const auto one = core();
  one->run(scans);
  const std::size_t bytes = one->statistics().dram_bytes;
  one->run(after);
  EXPECT_GT(bytes, 0u);
  for (std::size_t q = 0; q < kQueries; ++q) {
    const auto& task = after.tasks()[q];
    ASSERT_TRUE(task.answer.status.ok()) << task.answer.status.message();
    EXPECT_EQ(task.answer.found, kPagedWanted);
    EXPECT_EQ(task.id_room[0], alone.tasks()[q].id_room[0]);
    EXPECT_GT(task.answer.counts.hops, 0u);
  }
}

TEST_P(SlottedAmongRows, RowsThatDoNotAscendOrDoNotExistAreRefused) {
  for (const std::vector<NodeId>& only :
       {std::vector<NodeId>{5, 4}, {5, 5}, {3, kPagedRows}, {kInvalidNode}}) {
    TaskListFeed feed = searches(only);
    core()->run(feed);
    EXPECT_EQ(feed.count_status(StatusCode::invalid_argument), kQueries);
  }
}

TEST_P(SlottedAmongRows, ADeadlineThatHasPassedEndsIt) {
  const std::vector<NodeId> only = rows_among(300);
  TaskListFeed feed = searches(only);
  coroutines::Scheduler scheduler;
  const auto part = disk_->make_part({disk::DiskThread::any}, scheduler);
  scheduler.set_poller([&] { return part->poll(); });
  ASSERT_TRUE(scheduler
                  .spawn([&] {
                    search_now(*part, 0, feed.tasks()[0], -1e6);
                    search_now(*part, 0, feed.tasks()[1], 60e6);
                  })
                  .ok());
  scheduler.run();
  EXPECT_EQ(feed.tasks()[0].answer.status.code(), StatusCode::deadline_exceeded);
  EXPECT_EQ(feed.tasks()[0].answer.found, 0u);
  EXPECT_EQ(feed.tasks()[0].answer.counts.hops, 0u);
  expect_found(feed.tasks()[1], only);
}

}  // namespace
}  // namespace farvec::search
