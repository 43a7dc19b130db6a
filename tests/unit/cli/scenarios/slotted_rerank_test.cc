// Results of searches of slotted pages, ranked again by their vectors.
#include "tests/unit/cli/slotted_fixture.h"

namespace farvec::cli {
namespace {

TEST_F(VectorPayloadTest, HasNothingToRankAgain) {
  SlottedSearchOptions options = this->options();
  options.rerank = 20;
  EXPECT_NE(error_of(options).find("ranked already"), std::string::npos);
}

TEST_F(SlottedSearchTest, WithoutVectorsNothingIsRankedAgain) {
  SlottedSearchOptions options = this->options();
  options.rerank = 20;
  EXPECT_NE(error_of(options).find("build it with `farvec build graph --layout slotted --rerank "
                                   "on`"),
            std::string::npos);
}

/// Codes of two bits, so that ranking again matters.
class RerankTest : public SlottedSearchTest {
 protected:
  RerankTest() : SlottedSearchTest("rerank") {}
  SlottedSearchOptions with(std::uint32_t rerank) const {
    SlottedSearchOptions options = this->options();
    options.rerank = rerank;
    return options;
  }
};

TEST_F(RerankTest, OrdersTheNearestByTheirVectors) {
  for (const std::uint32_t rerank : {10u, 40u, kList}) {
    // The same search, which answers with all that will be ranked again.
    SlottedSearchOptions options = this->options(PoolKind::none);
    options.search = SearchKind::best_first;
    options.prefetch = false;
    options.slots = 1;
    options.k = rerank;
    const Queries candidates = run(*core(options), {.k = rerank});
    ASSERT_EQ(candidates.count(StatusCode::ok), kQueries);
    options.k = 10;
    options.rerank = rerank;
    const Queries answers = run(*core(options));
    ASSERT_EQ(answers.count(StatusCode::ok), kQueries);
    for (std::size_t q = 0; q < kQueries; ++q) {
      const auto expected = candidates.ranked(q);
      for (std::size_t i = 0; i < 10; ++i) {
        ASSERT_EQ(answers.ids()[q * 10 + i], expected[i].second) << rerank << ' ' << q << ' ' << i;
        ASSERT_EQ(answers.distances()[q * 10 + i], expected[i].first);
      }
    }
    EXPECT_EQ(candidates.totals.rerank_reads, 0u);
    EXPECT_GT(answers.totals.rerank_reads, 0u);
    EXPECT_LE(answers.totals.rerank_reads, kQueries * rerank);
    EXPECT_EQ(answers.totals.reads, candidates.totals.reads + answers.totals.rerank_reads);
    EXPECT_EQ(answers.totals.distances, candidates.totals.distances + kQueries * rerank);
    EXPECT_GE(answers.totals.bytes - candidates.totals.bytes, answers.totals.rerank_reads * 512);
  }
}

TEST_F(RerankTest, FindsWhatCodesMixUp) {
  const double codes = run(*core(options())).recall();
  EXPECT_LT(codes, 0.9);
  for (const SearchKind search :
       {SearchKind::best_first, SearchKind::beam, SearchKind::cache_aware}) {
    for (const PoolKind pool : {PoolKind::none, PoolKind::record, PoolKind::page}) {
      SlottedSearchOptions options = with(60);
      options.search = search;
      options.pool = pool;
      const Queries queries = run(*core(options));
      EXPECT_EQ(queries.count(StatusCode::ok), kQueries);
      EXPECT_GE(queries.recall(), codes + 0.05) << to_string(search) << ' ' << to_string(pool);
    }
  }
}

TEST_F(RerankTest, RefusesWhatTheListOrKDoNotEmbrace) {
  for (const std::uint32_t rerank : {9u, kList + 1}) {
    const std::string message = error_of(with(rerank));
    EXPECT_NE(message.find("use 10 (--k) to 150 (--list)"), std::string::npos) << message;
  }
  const auto one = core(with(40));
  EXPECT_EQ(run(*one, {.list = 39}).count(StatusCode::invalid_argument), kQueries);
  EXPECT_EQ(run(*one, {.k = 41}).count(StatusCode::invalid_argument), kQueries);
  EXPECT_EQ(run(*one, {.list = 40, .k = 40}).count(StatusCode::ok), kQueries);
}

TEST_F(RerankTest, RefusesWhatMemoryWasNotPlannedFor) {
  const auto one = core(options());
  EXPECT_EQ(run(*one, {.list = kList + 1}).count(StatusCode::invalid_argument), kQueries);
  EXPECT_EQ(run(*one, {.width = options().width + 1}).count(StatusCode::invalid_argument),
            kQueries);
}

TEST_F(RerankTest, TheBudgetBoundsItsBuffersToo) {
  SlottedSearchOptions options = with(100);
  const std::size_t least = SlottedStore::plan(index_, options).fixed() + 1000;
  EXPECT_GT(least, SlottedStore::plan(index_, with(0)).fixed() + 100 * 4096);
  options.memory_budget = least - 1000;
  EXPECT_NE(error_of(options).find("use --memory-budget"), std::string::npos);
  options.memory_budget = least;
  const auto tiny = core(options);
  EXPECT_EQ(run(*tiny).count(StatusCode::ok), kQueries);
  EXPECT_LE(tiny->statistics().dram_bytes + index_.dram_bytes(), least);
}

TEST_F(RerankTest, AVectorThatCannotBeReadEndsItsSearches) {
  const auto one = faulty_core(with(40));
  const std::size_t before = run(*one).count(StatusCode::ok);
  faulty_->set_faults({.bad_blocks = {{.file = 1, .offset = 4096 * 7, .bytes = 4096}}});
  const Queries failing = run(*one);
  EXPECT_EQ(before, kQueries);
  EXPECT_GT(failing.count(StatusCode::data_loss), 0u);
  EXPECT_GT(failing.count(StatusCode::ok), 0u);
  EXPECT_EQ(failing.count(StatusCode::data_loss) + failing.count(StatusCode::ok), kQueries);
  EXPECT_EQ(one->statistics().in_flight_reads, 0u);
  faulty_->set_faults({.short_rate = 0.2, .again_rate = 0.2});
  EXPECT_EQ(run(*one).count(StatusCode::ok), kQueries);
}

TEST_F(RerankTest, SearchesWhoseVectorsAreLateEndInTime) {
  const auto one = faulty_core(with(40));
  EXPECT_EQ(run(*one).count(StatusCode::ok), kQueries);  // nothing but vectors is read from now on
  faulty_->set_faults({.drop_rate = 0.02, .cancels = false});
  const Queries late = run(*one, {.patience_us = 200e3});
  EXPECT_GT(late.count(StatusCode::deadline_exceeded), 0u);
  EXPECT_EQ(late.count(StatusCode::deadline_exceeded) + late.count(StatusCode::ok), kQueries);
  EXPECT_GT(one->statistics().in_flight_reads, 0u);
  faulty_->set_faults({});
  faulty_->release();
  EXPECT_EQ(run(*one).count(StatusCode::ok), kQueries);
  EXPECT_EQ(one->statistics().in_flight_reads, 0u);
}

TEST_F(RerankTest, CoresReadVectorsEachForItself) {
  SlottedSearchOptions options = with(40);
  options.cores = 2;
  options.memory_budget = SlottedStore::plan(index_, options).fixed() + 200000;
  const auto cores = cores_at(pages(), options);
  EXPECT_GT(run(cores).totals.rerank_reads, 0u);
}

TEST_F(RerankTest, FindsTheVectorsBesideThePages) {
  const auto own = directory_.region_path(layout::kRecordsRegion).filename();
  std::filesystem::rename(pages(), folder_.path() / own);
  const std::string path = folder_.path().string();
  EXPECT_THROW((void)cores_at(path, with(40)), SystemError);
  const auto vectors = directory_.region_path(layout::kVectorsRegion);
  std::filesystem::copy(vectors, folder_.path() / vectors.filename());
  EXPECT_EQ(run(*cores_at(path, with(40)).front()).count(StatusCode::ok), kQueries);
  std::filesystem::resize_file(folder_.path() / vectors.filename(), 8192);
  EXPECT_THROW((void)cores_at(path, with(40)), Error);
}

}  // namespace
}  // namespace farvec::cli
