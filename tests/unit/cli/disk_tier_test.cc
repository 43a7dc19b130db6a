#include "cli/disk_tier.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <set>

#include "base/error.h"
#include "base/random.h"
#include "cli/batch_search.h"
#include "cli/slotted_build.h"
#include "compute_node/slotted_core.h"
#include "dataset/brute_force.h"
#include "dataset/recall.h"
#include "layout/index_directory.h"
#include "ssd_baseline/io/faulty_queue.h"
#include "ssd_baseline/io/uring_queue.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::cli {
namespace {

using ssd_baseline::PoolKind;
using ssd_baseline::SearchKind;
using ssd_baseline::SlottedSearchOptions;
using ssd_baseline::SlottedStore;

constexpr std::size_t kCount = 3000;
constexpr std::size_t kQueries = 40;
constexpr std::uint32_t kDimension = 24;
constexpr std::uint32_t kList = 150;

/// Vectors, and indexes of them in slotted pages; built once.
class SlottedIndexes {
 public:
  SlottedIndexes() {
    Random random(11);
    std::vector<float> centers(16 * kDimension);
    for (float& c : centers) c = static_cast<float>(3 * random.normal());
    for (std::size_t i = 0; i < kCount + kQueries; ++i) {
      const std::size_t center = random.below(16);
      for (std::uint32_t d = 0; d < kDimension; ++d) {
        values_.push_back(centers[center * kDimension + d] + static_cast<float>(random.normal()));
      }
    }
    for (const char* payload : {"code", "vector"}) build(payload);
  }

  VectorView rows() const {
    return packed_view(values_.data(), kCount, kDimension, ElementType::f32);
  }
  VectorView queries() const {
    return packed_view(values_.data() + kCount * kDimension, kQueries, kDimension,
                       ElementType::f32);
  }
  std::filesystem::path path(const std::string& payload) const { return folder_.path() / payload; }

 private:
  void build(const std::string& payload) {
    graph::VamanaOptions graph_options;
    graph_options.degree = 20;
    graph_options.list = 50;
    graph_options.threads = 2;
    graph_options.quiet = true;
    SlottedOptions options;
    options.payload = payload;
    options.extension_bits = 6;
    graph_options.affinity = affinity_options(options, rows(), Metric::l2, graph_options);
    graph::VamanaStats stats;
    const graph::Graph graph = graph::build_vamana(rows(), Metric::l2, graph_options, &stats);
    layout::Manifest manifest;
    manifest.metric = Metric::l2;
    manifest.source_type = manifest.stored_type = ElementType::f32;
    manifest.dimension = kDimension;
    manifest.count = kCount;
    manifest.max_degree = graph_options.degree;
    manifest.build = {graph_options.degree, graph_options.list, 1.2, 1, graph_options.seed, 2};
    manifest.dataset = {"clusters", "clusters.fbin", kDimension * sizeof(float), kCount, 0};
    manifest.farvec_version = manifest.farvec_commit = "test";
    write_slotted(path(payload), manifest, {graph, stats, rows(), 2}, options,
                  {.threads = 2, .quiet = true});
  }

  std::vector<float> values_;
  tests::TemporaryFolder folder_;
};

const SlottedIndexes& indexes() {
  static const SlottedIndexes built;
  return built;
}

/// One query at a time or many, each with its own outcome.
class Queries final : public compute_node::TaskFeed {
 public:
  explicit Queries(VectorView rows, std::uint32_t list, std::uint32_t width)
      : rows_(rows), tasks_(rows.count), ids_(rows.count * 10), distances_(rows.count * 10) {
    for (std::size_t q = 0; q < rows.count; ++q) {
      compute_node::SearchTask& task = tasks_[q];
      task.query = rows.row(q);
      task.k = 10;
      task.list = list;
      task.width = width;
      task.ids = &ids_[q * 10];
      task.distances = &distances_[q * 10];
    }
  }
  compute_node::SearchTask* next() override {
    if (next_ == tasks_.size()) return nullptr;
    tasks_[next_].deadline = now_ticks() + us_to_ticks(60e6);
    return &tasks_[next_++];
  }
  bool finished() override { return next_ == tasks_.size(); }
  void done(compute_node::SearchTask& task) override {
    ++ended;
    totals += task.counts;
  }
  void idle() override {}

  std::size_t count(StatusCode code) const {
    return static_cast<std::size_t>(
        std::count_if(tasks_.begin(), tasks_.end(),
                      [&](const auto& task) { return task.status.code() == code; }));
  }
  const std::vector<NodeId>& ids() const { return ids_; }
  double recall() const {
    double found = 0;
    for (std::size_t q = 0; q < rows_.count; ++q) {
      const auto truth = nearest(rows_.row(q));
      for (std::size_t i = 0; i < 10; ++i) found += truth.contains(ids_[q * 10 + i]) ? 1 : 0;
    }
    return found / static_cast<double>(ids_.size());
  }

  std::size_t ended = 0;
  compute_node::QueryCounts totals;

 private:
  static std::set<NodeId> nearest(const std::byte* query) {
    const auto kernel = distance::pair_kernel(Metric::l2, ElementType::f32, kDimension);
    std::vector<std::pair<float, NodeId>> all;
    for (NodeId id = 0; id < kCount; ++id) {
      all.emplace_back(kernel(query, indexes().rows().row(id), kDimension), id);
    }
    std::partial_sort(all.begin(), all.begin() + 10, all.end());
    std::set<NodeId> ids;
    for (std::size_t i = 0; i < 10; ++i) ids.insert(all[i].second);
    return ids;
  }

  VectorView rows_;
  std::size_t next_ = 0;
  std::vector<compute_node::SearchTask> tasks_;
  std::vector<NodeId> ids_;
  std::vector<float> distances_;
};

/// The pages in a file that a test may damage, and one core over it.
class DiskTierTest : public ::testing::Test {
 protected:
  explicit DiskTierTest(const std::string& payload = "code")
      : directory_(layout::IndexDirectory::open(indexes().path(payload))),
        index_(ssd_baseline::load_slotted_index(directory_)) {
    std::filesystem::copy(directory_.region_path(layout::kRecordsRegion), pages());
  }

  std::string pages() const { return folder_.file("pages"); }
  SlottedSearchOptions options(PoolKind pool = PoolKind::record) const {
    return {.pool = pool, .slots = 8, .list = kList};
  }
  std::unique_ptr<compute_node::SearchCore> core(const SlottedSearchOptions& options) {
    return std::move(DiskTier(pages(), directory_, index_).make_cores(options).front());
  }
  Queries run(compute_node::SearchCore& core, std::uint32_t width = 4) {
    Queries queries(indexes().queries(), kList, width);
    core.run(queries);
    EXPECT_EQ(queries.ended, kQueries);
    return queries;
  }
  /// With faults in the disk; faulty_ is its queue.
  std::unique_ptr<compute_node::SearchCore> faulty_core(const SlottedSearchOptions& options) {
    auto queue = std::make_unique<ssd_baseline::FaultyQueue>(
        std::make_unique<ssd_baseline::UringQueue>(
            ssd_baseline::DiskFiles{std::make_shared<ssd_baseline::DiskFile>(pages())},
            ssd_baseline::UringOptions{.capacity = SlottedStore::buffers_per_core(options)}),
        ssd_baseline::DiskFaults{});
    faulty_ = queue.get();
    return compute_node::make_slotted_core(
        std::make_shared<SlottedStore>(index_, directory_.load_page_map({.quiet = true}), options),
        std::make_unique<ssd_baseline::DiskEngine>(std::move(queue)));
  }
  std::string error_of(const SlottedSearchOptions& options) {
    try {
      (void)core(options);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  }

  tests::TemporaryFolder folder_;
  const layout::IndexDirectory directory_;
  const ssd_baseline::SlottedIndex index_;
  ssd_baseline::FaultyQueue* faulty_ = nullptr;
};

TEST_F(DiskTierTest, EverySearchOverEveryPoolFindsTheNeighbours) {
  for (const SearchKind search :
       {SearchKind::best_first, SearchKind::beam, SearchKind::cache_aware}) {
    for (const PoolKind pool : {PoolKind::none, PoolKind::record, PoolKind::page}) {
      for (const bool prefetch : {false, true}) {
        SlottedSearchOptions options = this->options(pool);
        options.search = search;
        options.prefetch = prefetch;
        const auto one = core(options);
        const Queries queries = run(*one);
        EXPECT_EQ(queries.count(StatusCode::ok), kQueries);
        EXPECT_GE(queries.recall(), 0.93)
            << to_string(search) << ' ' << to_string(pool) << ' ' << prefetch;
      }
    }
  }
}

TEST_F(DiskTierTest, WithoutAPoolEveryRecordIsARead) {
  SlottedSearchOptions options = this->options(PoolKind::none);
  options.search = SearchKind::best_first;
  options.prefetch = false;
  options.page_search = false;
  options.slots = 1;
  const auto one = core(options);
  const Queries queries = run(*one, 1);
  EXPECT_GT(queries.totals.distances, 0u);
  EXPECT_EQ(queries.totals.reads, queries.totals.distances);
  EXPECT_EQ(queries.totals.reads, queries.totals.hops);
  EXPECT_EQ(queries.totals.pool_misses, queries.totals.reads);
  EXPECT_EQ(queries.totals.cache_hits, 0u);
  EXPECT_EQ(queries.totals.bytes, queries.totals.reads * 4096);
  const Queries again = run(*one, 1);
  EXPECT_EQ(again.totals.reads, queries.totals.reads);
  EXPECT_EQ(again.ids(), queries.ids());
}

TEST_F(DiskTierTest, CandidatesOfAPageNeedOneRead) {
  SlottedSearchOptions options = this->options(PoolKind::none);
  const Queries together = run(*core(options), 1);
  options.page_search = false;
  const Queries alone = run(*core(options), 1);
  EXPECT_LT(2 * together.totals.reads, alone.totals.reads);
  EXPECT_GE(together.totals.distances, alone.totals.distances);
  EXPECT_GE(together.recall(), alone.recall() - 0.01);
}

TEST_F(DiskTierTest, APoolOfEverythingReadsNothingTwice) {
  for (const PoolKind pool : {PoolKind::record, PoolKind::page}) {
    SlottedSearchOptions options = this->options(pool);
    options.search = SearchKind::best_first;
    options.prefetch = false;
    const auto one = core(options);
    const Queries first = run(*one);
    const Queries second = run(*one);
    EXPECT_LT(first.totals.reads, first.totals.distances);
    EXPECT_EQ(second.totals.reads, 0u);
    EXPECT_EQ(second.totals.pool_misses, 0u);
    EXPECT_EQ(second.totals.cache_hits, second.totals.distances);
    EXPECT_EQ(first.ids(), second.ids()) << "where a record comes from changes no answer";
  }
}

TEST_F(DiskTierTest, TheBudgetBoundsEverything) {
  SlottedSearchOptions options = this->options();
  options.memory_budget = 1000;
  const std::string message = error_of(options);
  const std::string marker = "use --memory-budget ";
  ASSERT_NE(message.find(marker), std::string::npos) << message;
  const std::size_t least = std::stoul(message.substr(message.find(marker) + marker.size()));
  options.memory_budget = least - 1;
  EXPECT_NE(error_of(options).find(std::to_string(least)), std::string::npos);

  options.memory_budget = least;
  const auto tiny = core(options);
  const Queries queries = run(*tiny);
  EXPECT_EQ(queries.count(StatusCode::ok), kQueries) << "one slot for eight searches will do";
  EXPECT_GE(queries.recall(), 0.93);

  options.memory_budget = least + 100000;
  const ssd_baseline::MemoryPlan plan = SlottedStore::plan(index_, options);
  EXPECT_LE(plan.total(), *options.memory_budget);
  EXPECT_GT(plan.total(), *options.memory_budget - 1000);
  const auto some = core(options);
  EXPECT_LE(some->statistics().dram_bytes + index_.dram_bytes(), plan.total());
}

TEST_F(DiskTierTest, ABlockThatCannotBeReadEndsTheSearchesThatNeedIt) {
  const SlottedSearchOptions options = this->options();
  const auto one = faulty_core(options);
  // Pages of records that some queries need and others do not.
  faulty_->set_faults({.bad_blocks = {{.file = 0, .offset = 4096 * 5, .bytes = 4096}}});
  const Queries failing = run(*one);
  EXPECT_GT(failing.count(StatusCode::data_loss), 0u);
  EXPECT_GT(failing.count(StatusCode::ok), 0u);
  EXPECT_EQ(failing.count(StatusCode::data_loss) + failing.count(StatusCode::ok), kQueries);
  faulty_->set_faults({});
  EXPECT_EQ(run(*one).count(StatusCode::ok), kQueries);
  EXPECT_GE(run(*one).recall(), 0.93);
}

TEST_F(DiskTierTest, ShortReadsAndRefusalsOfTheKernelAreRetriedBelow) {
  const auto one = faulty_core(options());
  faulty_->set_faults({.short_rate = 0.2, .again_rate = 0.2});
  const Queries queries = run(*one);
  EXPECT_EQ(queries.count(StatusCode::ok), kQueries);
  EXPECT_GE(queries.recall(), 0.93);
}

TEST_F(DiskTierTest, ADamagedPageIsDataLossAndNeverAnAnswer) {
  {
    std::fstream file(pages(), std::ios::in | std::ios::out | std::ios::binary);
    for (std::uint64_t page = 0; page < index_.geometry().pages; page += 8) {
      file.seekp(static_cast<std::streamoff>(
          index_.geometry().page_offset(static_cast<std::uint32_t>(page)) + 2000));
      file.put('!').put('?').put('!');
    }
  }
  const auto one = core(options());
  const Queries queries = run(*one);
  EXPECT_GT(queries.count(StatusCode::data_loss), 0u);
  EXPECT_EQ(queries.count(StatusCode::data_loss) + queries.count(StatusCode::ok), kQueries);
}

TEST_F(DiskTierTest, AFileThatShrinksIsDataLoss) {
  const auto one = core(options(PoolKind::none));
  std::filesystem::resize_file(pages(), index_.geometry().page_offset(2));
  const Queries queries = run(*one);
  EXPECT_GT(queries.count(StatusCode::data_loss), 0u);
  EXPECT_EQ(queries.count(StatusCode::data_loss) + queries.count(StatusCode::ok), kQueries);
}

TEST_F(DiskTierTest, RefusesPagesThatAreNotTheIndexs) {
  std::filesystem::resize_file(pages(), 8192);
  EXPECT_NE(error_of(options()).find("8192"), std::string::npos);
  std::filesystem::copy(
      layout::IndexDirectory::open(indexes().path("vector")).region_path(layout::kRecordsRegion),
      pages(), std::filesystem::copy_options::overwrite_existing);
  EXPECT_FALSE(error_of(options()).empty());
}

TEST_F(DiskTierTest, FindsItsPagesInAnotherDirectory) {
  const auto own = directory_.region_path(layout::kRecordsRegion).filename();
  std::filesystem::rename(pages(), folder_.path() / own);
  const auto cores = DiskTier(folder_.path().string(), directory_, index_).make_cores(options());
  EXPECT_EQ(run(*cores.front()).count(StatusCode::ok), kQueries);
  const auto same = DiskTier("", directory_, index_).make_cores(options());
  EXPECT_EQ(run(*same.front()).count(StatusCode::ok), kQueries);
}

TEST_F(DiskTierTest, CoresShareAPool) {
  SlottedSearchOptions options = this->options();
  options.cores = 2;
  options.memory_budget = SlottedStore::plan(index_, options).fixed() + 200000;
  const auto cores = DiskTier(pages(), directory_, index_).make_cores(options);
  ASSERT_EQ(cores.size(), 2u);
  BatchParameters parameters;
  parameters.k = 10;
  parameters.list = kList;
  parameters.width = 4;
  parameters.repeats = 5;
  dataset::GroundTruth results;
  const BatchOutcome outcome = run_batch(cores, indexes().queries(), parameters, results);
  EXPECT_EQ(outcome.latency_us.size(), kQueries * 5);
  // On other threads than before.
  EXPECT_EQ(run_batch(cores, indexes().queries(), parameters, results).latency_us.size(),
            kQueries * 5);
}

class VectorPayloadTest : public DiskTierTest {
 protected:
  VectorPayloadTest() : DiskTierTest("vector") {}
};

TEST_F(VectorPayloadTest, RanksByTheStoredVectors) {
  const auto one = core(options());
  const Queries queries = run(*one);
  EXPECT_EQ(queries.count(StatusCode::ok), kQueries);
  EXPECT_GE(queries.recall(), 0.97);
}

}  // namespace
}  // namespace farvec::cli
