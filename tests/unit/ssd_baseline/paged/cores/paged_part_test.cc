#include "ssd_baseline/paged/cores/paged_part.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <numeric>
#include <thread>

#include "base/status_error.h"
#include "search/core/batch_search.h"
#include "ssd_baseline/paged/cores/changing_hnsw.h"
#include "ssd_baseline/paged/cores/counted_work.h"
#include "tests/unit/ssd_baseline/paged/hnsw_fixture.h"

namespace farvec::paged {
namespace {

using testing::Rows;

/// Has searches until it is told to stop, and notes their answers.
class EndlessFeed final : public search::TaskFeed {
 public:
  EndlessFeed(const Rows& rows, std::uint32_t k, std::atomic<bool>& stop)
      : rows_(rows), k_(k), stop_(stop) {}

  search::SearchTask* next() override {
    if (stop_ || busy_) return nullptr;
    busy_ = true;
    task_ = {};
    task_.request.query = rows_.row(asked_++ % rows_.count()).data();
    task_.request.parameters =
        search::searchable(search::SearchParameters::make(k_, search::GraphChoice{.list = 64}));
    task_.request.deadline = testing::kPatient;
    task_.answer.ids = ids_;
    task_.answer.distances = distances_;
    return &task_;
  }
  bool finished() override { return stop_; }
  void done(search::SearchTask& task) override {
    busy_ = false;
    ++answered;
    if (!task.answer.status.ok()) failure = task.answer.status;
  }
  void idle() override { std::this_thread::yield(); }

  std::uint64_t answered = 0;
  Status failure;

 private:
  const Rows& rows_;
  const std::uint32_t k_;
  std::atomic<bool>& stop_;
  search::SearchTask task_;
  std::uint64_t ids_[64];
  float distances_[64];
  std::uint64_t asked_ = 0;
  bool busy_ = false;
};

class PagedPartTest : public ::testing::Test {
 protected:
  PagedPartTest() { hnsw_ = PagedHnsw::create(testing::store_options(folder_), config_, {}); }
  ~PagedPartTest() override { stop_cores(); }

  /// Threads that search all the while, and make the changes of the queue.
  void serve(unsigned threads) {
    cores_ = std::make_unique<PagedCores>(
        *hnsw_,
        PagedCoreOptions{.reads = {}, .slots = 2, .changers = 3, .thread = disk::DiskThread::owner},
        works_);
    for (unsigned i = 0; i < threads; ++i) {
      threads_.emplace_back([this] {
        EndlessFeed feed(set_, 5, stop_);
        cores_->make_core()->run(feed);
        EXPECT_TRUE(feed.failure.ok()) << feed.failure.message();
        searches_ += feed.answered;
      });
    }
  }
  void stop_cores() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  ChangingHnsw served(IfThere if_there = IfThere::replace) {
    HnswCrewOptions crew;
    crew.served = works_;
    crew.if_there = if_there;
    return ChangingHnsw(*hnsw_, crew);
  }
  changes::Receipt insert(changes::Changing& index, std::uint64_t begin, std::uint64_t end,
                          std::uint64_t first_row, const changes::Patience& patience = {}) {
    std::vector<std::uint64_t> ids(end - begin);
    std::iota(ids.begin(), ids.end(), begin);
    changes::Receipt receipt;
    index.insert({set_.view().part(first_row, end - begin), ids}, patience, receipt);
    for (const std::uint64_t id : ids) live_[id] = first_row + id - begin;
    return receipt;
  }
  /// Every row that should be there has its vector, and a search of the whole graph finds it first.
  void expect_rows() {
    EXPECT_EQ(hnsw_->describe().state.vertices, live_.size());
    const PagedCores cores(*hnsw_, {.reads = {}, .slots = 4});
    std::vector<std::unique_ptr<search::SearchCore>> one;
    one.push_back(cores.make_core());
    const std::uint32_t k = static_cast<std::uint32_t>(live_.size());
    std::vector<std::uint64_t> ids;
    search::BatchParameters batch{.search = search::searchable(search::SearchParameters::make(
                                      k, search::GraphChoice{.list = k})),
                                  .user_ids = &ids};
    dataset::GroundTruth found;
    search::run_batch(one, set_.view(1), batch, found);
    std::sort(ids.begin(), ids.end());
    std::vector<std::uint64_t> expected;
    for (const auto& [id, row] : live_) expected.push_back(id);
    EXPECT_EQ(ids, expected);
    ChangingHnsw index(*hnsw_);
    const changes::FoundRows rows = index.get(expected, {});
    ASSERT_EQ(rows.rows.size(), expected.size() * set_.row_bytes());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const auto wanted = set_.row(live_[expected[i]]);
      EXPECT_EQ(std::memcmp(&rows.rows[i * set_.row_bytes()], wanted.data(), wanted.size()), 0);
    }
  }

  tests::TemporaryFolder folder_;
  // With 6 neighbours a layer, about one run of 200 leaves a vertex that no other has as neighbour:
  // a graph promises no more, and a search of the whole graph does not find it.
  HnswConfig config_ = testing::small_config(12, 16);
  Rows set_{400, testing::small_config(12, 16)};
  std::unique_ptr<PagedHnsw> hnsw_;
  std::shared_ptr<WorkQueue> works_ = std::make_shared<WorkQueue>();
  std::unique_ptr<PagedCores> cores_;
  std::atomic<bool> stop_{false};
  std::atomic<std::uint64_t> searches_{0};
  std::vector<std::thread> threads_;
  std::map<std::uint64_t, std::uint64_t> live_;  ///< the row of every id
};

TEST_F(PagedPartTest, HasNoExactSearch) {
  const PagedCores cores(*hnsw_, {.reads = {}, .slots = 1});
  std::vector<std::unique_ptr<search::SearchCore>> one;
  one.push_back(cores.make_core());
  search::BatchParameters batch;
  batch.exact = true;
  dataset::GroundTruth found;
  try {
    search::run_batch(one, set_.view(1), batch, found);
    FAIL() << "it was not refused";
  } catch (const StatusError& error) {
    EXPECT_EQ(error.code, StatusCode::invalid_argument);
    EXPECT_NE(std::string(error.what()).find("exact"), std::string::npos) << error.what();
  }
}

TEST_F(PagedPartTest, ChangesGoOnBesideSearchesOfTheSameCores) {
  serve(2);
  ChangingHnsw index = served();
  EXPECT_EQ(insert(index, 0, 150, 0).done, 150u);
  changes::Receipt gone;
  index.erase(std::vector<std::uint64_t>{3, 7, 149, 500}, {}, gone);
  EXPECT_EQ(gone.done, 3u);
  EXPECT_EQ(gone.missing, 1u);
  for (const std::uint64_t id : {3, 7, 149}) live_.erase(id);
  EXPECT_TRUE(index.compact());
  EXPECT_EQ(hnsw_->describe().state.marked, 0u);
  EXPECT_EQ(index.vacuum_state().removed, 3u);
  stop_cores();
  EXPECT_GT(searches_.load(), 0u);
  expect_rows();
}

TEST_F(PagedPartTest, ReplacedRowsAreThereOnceWithTheirNewVectors) {
  serve(2);
  ChangingHnsw index = served();
  insert(index, 0, 100, 0);
  const changes::Receipt again = insert(index, 50, 150, 200);
  EXPECT_EQ(again.done, 100u);
  EXPECT_EQ(again.replaced, 50u);
  EXPECT_EQ(hnsw_->describe().state.marked, 50u);
  stop_cores();
  expect_rows();
  ChangingHnsw strict(*hnsw_);
  EXPECT_THROW(insert(strict, 10, 11, 0), StatusError);
}

TEST_F(PagedPartTest, TheOnlyVertexIsReplaced) {
  HnswCrewOptions crew;
  crew.if_there = IfThere::replace;
  ChangingHnsw index(*hnsw_, crew);
  for (std::uint64_t row = 0; row < 5; ++row) insert(index, 9, 10, row);
  expect_rows();
  insert(index, 0, 9, 10);
  expect_rows();
}

TEST_F(PagedPartTest, ManyCallsThatReplaceTheSameIdsLeaveEachOnce) {
  serve(2);
  std::vector<std::thread> callers;
  std::atomic<std::uint64_t> replaced{0};
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&, caller] {
      ChangingHnsw index = served();
      std::vector<std::uint64_t> ids(20);
      std::iota(ids.begin(), ids.end(), 0);
      for (int round = 0; round < 5; ++round) {
        changes::Receipt receipt;
        index.insert({set_.view().part(static_cast<std::size_t>(caller) * 20, 20), ids}, {},
                     receipt);
        replaced += receipt.replaced;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  stop_cores();
  EXPECT_EQ(replaced.load(), 4 * 5 * 20u - 20u);
  const layout::HnswState state = hnsw_->describe().state;
  EXPECT_EQ(state.vertices, 20u);
  EXPECT_EQ(state.marked, replaced.load());
}

TEST_F(PagedPartTest, WithoutCoresACallEndsAtItsDeadlineAndNothingIsIn) {
  ChangingHnsw index = served();
  changes::Patience patience{.until = now_ticks() + us_to_ticks(20e3)};
  try {
    insert(index, 0, 10, 0, patience);
    FAIL();
  } catch (const changes::Refusal& refusal) {
    EXPECT_EQ(refusal.code, StatusCode::deadline_exceeded);
    EXPECT_THAT(refusal.what(), ::testing::HasSubstr("0 of 10 were done before the deadline"));
  }
  serve(1);
  live_.clear();
  insert(index, 0, 3, 5);
  stop_cores();
  expect_rows();
}

TEST_F(PagedPartTest, AVacuumGoesOnWithoutItsCaller) {
  ChangingHnsw index = served();
  {
    ChangingHnsw alone(*hnsw_);
    insert(alone, 0, 100, 0);
    changes::Receipt gone;
    alone.erase(std::vector<std::uint64_t>{1, 2}, {}, gone);
    live_.erase(1);
    live_.erase(2);
  }
  EXPECT_FALSE(index.compact([] { return true; }));
  EXPECT_TRUE(index.vacuum_state().runs);
  serve(1);
  while (index.vacuum_state().runs) std::this_thread::yield();
  EXPECT_EQ(index.vacuum_state().removed, 2u);
  stop_cores();
  expect_rows();
}

TEST(WorkQueue, WorksTakeTurns) {
  class Work final : public SharedWork {
   public:
    explicit Work(int count) : left(count) {}
    bool has_more() const override { return left > 0; }
    void step(ChangeHands&) override {}
    int left;
  };
  WorkQueue works;
  EXPECT_EQ(works.next(), nullptr);
  const auto a = std::make_shared<Work>(2);
  const auto b = std::make_shared<Work>(1);
  works.add(a);
  works.add(b);
  for (const auto& expected : {a, b, a}) {
    EXPECT_TRUE(works.any());
    const auto next = works.next();
    EXPECT_EQ(next, expected);
    --expected->left;
  }
  EXPECT_EQ(works.next(), nullptr);
  EXPECT_FALSE(works.any());
}

}  // namespace
}  // namespace farvec::paged
