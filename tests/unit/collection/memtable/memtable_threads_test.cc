#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>

#include "collection/memtable/memtable.h"
#include "tests/unit/collection/memtable_fixture.h"

namespace farvec::collection {
namespace {

using testing::every;
using testing::id_of;
using testing::ids_of;
using testing::nearest_of_all;
using testing::options_for;
using testing::StoredRows;

constexpr std::uint32_t kRows = 4000;
constexpr std::uint32_t kBatch = 7;

/// One thread appends, two link and two search, until all is linked.
class MemtableThreads : public ::testing::Test {
 protected:
  MemtableThreads() : rows_(Metric::l2, ElementType::f32, 11), queries_(rows_) {
    rows_.fill(kRows, 1, 9);
    queries_.fill(64, 2);
    memtable_.emplace(options_for(rows_, kRows));
  }

  bool done() const { return memtable_->linked() == kRows; }

  void append_all() {
    for (std::uint32_t first = 0; first < kRows; first += kBatch) {
      const std::uint32_t count = std::min(kBatch, kRows - first);
      memtable_->append(rows_.slice(first, count), ids_of(first, count));
      published_.store(first + count, std::memory_order_release);
    }
  }

  void link_until_done() {
    LinkScratch scratch;
    while (!done()) {
      if (!memtable_->link_next(scratch)) std::this_thread::yield();
    }
  }

  void search_until_done(std::uint32_t seed) {
    MemtableScratch scratch;
    for (std::uint32_t i = seed; !done(); ++i) {
      const std::uint32_t count = published_.load(std::memory_order_acquire);
      const RowSet out = i % 2 == 0 ? RowSet() : every(5, count);
      const MemtableQuery query{
          .vector = queries_.view().row(i % 64), .k = 10, .list = 15, .count = count, .out = out};
      check(query, memtable_->search(query, scratch));
      if (scratch.counts.hops > 0) graph_searches_.fetch_add(1, std::memory_order_relaxed);
    }
  }

  void check(const MemtableQuery& query, std::span<const graph::Neighbor> found) const {
    const auto pair = distance::pair_kernel(Metric::l2, ElementType::f32, 11);
    ASSERT_EQ(found.size(), std::min<std::size_t>(query.k, query.count - query.out.count()));
    for (std::size_t i = 0; i < found.size(); ++i) {
      const NodeId row = found[i].id;
      ASSERT_LT(row, query.count);
      ASSERT_FALSE(query.out.contains(row));
      ASSERT_EQ(found[i].distance, pair(query.vector, rows_.view().row(row), 11));
      ASSERT_EQ(memtable_->id(row), id_of(row));
      if (i == 0) continue;
      const graph::Neighbor& before = found[i - 1];
      ASSERT_TRUE(before.distance < found[i].distance ||
                  (before.distance == found[i].distance && before.id < row));
    }
  }

  StoredRows rows_;
  StoredRows queries_;
  std::optional<Memtable> memtable_;
  std::atomic<std::uint32_t> published_{0};
  std::atomic<int> graph_searches_{0};
};

TEST_F(MemtableThreads, SearchesSeeWhatWasPublishedWhileOthersAppendAndLink) {
  std::vector<std::thread> threads;
  threads.emplace_back([&] { append_all(); });
  for (int t = 0; t < 2; ++t) threads.emplace_back([&] { link_until_done(); });
  for (std::uint32_t t = 0; t < 2; ++t) threads.emplace_back([&, t] { search_until_done(t); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(memtable_->size(), kRows);
  EXPECT_GT(graph_searches_.load(), 0) << "no search went through the graph";
  MemtableScratch scratch;
  const MemtableQuery all{
      .vector = queries_.view().row(0), .k = 2 * kRows, .count = kRows, .out = RowSet()};
  const auto found = memtable_->search(all, scratch);
  const auto truth = nearest_of_all(rows_.view(), Metric::l2, all);
  EXPECT_TRUE(std::equal(found.begin(), found.end(), truth.begin(), truth.end()));
}

}  // namespace
}  // namespace farvec::collection
