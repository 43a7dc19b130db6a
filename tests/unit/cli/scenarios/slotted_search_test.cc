#include <fstream>

#include "tests/unit/cli/slotted_fixture.h"

namespace farvec::cli {
namespace {

TEST_F(SlottedSearchTest, EverySearchOverEveryPoolFindsTheNeighbours) {
  for (const SearchKind search :
       {SearchKind::best_first, SearchKind::beam, SearchKind::cache_aware}) {
    for (const PoolKind pool :
         {PoolKind::none, PoolKind::record, PoolKind::page, PoolKind::single}) {
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

TEST_F(SlottedSearchTest, WithoutAPoolEveryRecordIsARead) {
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

TEST_F(SlottedSearchTest, CandidatesOfAPageNeedOneRead) {
  SlottedSearchOptions options = this->options(PoolKind::none);
  const Queries together = run(*core(options), 1);
  options.page_search = false;
  const Queries alone = run(*core(options), 1);
  EXPECT_LT(2 * together.totals.reads, alone.totals.reads);
  EXPECT_GE(together.totals.distances, alone.totals.distances);
  EXPECT_GE(together.recall(), alone.recall() - 0.01);
}

TEST_F(SlottedSearchTest, APoolOfEverythingReadsNothingTwice) {
  for (const PoolKind pool : {PoolKind::record, PoolKind::page}) {
    SlottedSearchOptions options = this->options(pool);
    options.search = SearchKind::best_first;
    options.prefetch = false;
    options.page_search = false;  // which depends on what is read
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

TEST_F(SlottedSearchTest, TheBudgetBoundsEverything) {
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
  const slotted::MemoryPlan plan = SlottedStore::plan(index_, options);
  EXPECT_LE(plan.total(), *options.memory_budget);
  EXPECT_GT(plan.total(), *options.memory_budget - 1000);
  const auto some = core(options);
  EXPECT_LE(some->statistics().dram_bytes + index_.dram_bytes(), plan.total());
}

TEST_F(SlottedSearchTest, ABlockThatCannotBeReadEndsTheSearchesThatNeedIt) {
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

TEST_F(SlottedSearchTest, ShortReadsAndRefusalsOfTheKernelAreRetriedBelow) {
  const auto one = faulty_core(options());
  faulty_->set_faults({.short_rate = 0.2, .again_rate = 0.2});
  const Queries queries = run(*one);
  EXPECT_EQ(queries.count(StatusCode::ok), kQueries);
  EXPECT_GE(queries.recall(), 0.93);
}

TEST_F(SlottedSearchTest, ADamagedPageIsDataLossAndNeverAnAnswer) {
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

TEST_F(SlottedSearchTest, AFileThatShrinksIsDataLoss) {
  const auto one = core(options(PoolKind::none));
  std::filesystem::resize_file(pages(), index_.geometry().page_offset(2));
  const Queries queries = run(*one);
  EXPECT_GT(queries.count(StatusCode::data_loss), 0u);
  EXPECT_EQ(queries.count(StatusCode::data_loss) + queries.count(StatusCode::ok), kQueries);
}

TEST_F(SlottedSearchTest, RefusesPagesThatAreNotTheIndexs) {
  std::filesystem::resize_file(pages(), 8192);
  EXPECT_NE(error_of(options()).find("8192"), std::string::npos);
  std::filesystem::copy(
      layout::IndexDirectory::open(indexes().path("vector")).region_path(layout::kRecordsRegion),
      pages(), std::filesystem::copy_options::overwrite_existing);
  EXPECT_FALSE(error_of(options()).empty());
}

TEST_F(SlottedSearchTest, FindsItsPagesInAnotherDirectory) {
  const auto own = directory_.region_path(layout::kRecordsRegion).filename();
  std::filesystem::rename(pages(), folder_.path() / own);
  const auto cores = cores_at(folder_.path().string(), options());
  EXPECT_EQ(run(*cores.front()).count(StatusCode::ok), kQueries);
  const auto same = cores_at("", options());
  EXPECT_EQ(run(*same.front()).count(StatusCode::ok), kQueries);
}

TEST_F(SlottedSearchTest, CoresShareAPool) {
  SlottedSearchOptions options = this->options();
  options.cores = 2;
  options.memory_budget = SlottedStore::plan(index_, options).fixed() + 200000;
  const auto cores = cores_at(pages(), options);
  ASSERT_EQ(cores.size(), 2u);
  (void)run(cores);
  (void)run(cores);  // on other threads than before
}

TEST_F(VectorPayloadTest, RanksByTheStoredVectors) {
  const auto one = core(options());
  const Queries queries = run(*one);
  EXPECT_EQ(queries.count(StatusCode::ok), kQueries);
  EXPECT_GE(queries.recall(), 0.97);
}

}  // namespace
}  // namespace farvec::cli
