// Memory that is refused while a collection is opened, linked and searched.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <new>
#include <set>
#include <utility>

#include "collection/memtable/memtable_linker.h"
#include "collection/read/collection_follower.h"
#include "tests/unit/collection/changing_collection.h"
#include "tests/unit/collection/comes.h"
#include "tests/unit/collection/failing_new.h"
#include "tests/unit/collection/memtable_fixture.h"

namespace farvec::collection {
namespace {

class RefusedMemory : public ChangingCollection {
 protected:
  void SetUp() override {
    if (!tests::kRefusesMemory) GTEST_SKIP() << tests::kNoRefusals;
  }
  /// Each of its last allocations is refused once; threads are begun at the end.
  static void refuse_at_the_end(const std::function<void()>& open) {
    constexpr std::uint64_t kLast = 8;
    const std::uint64_t before = tests::allocations();
    open();
    const std::uint64_t all = tests::allocations() - before;
    for (std::uint64_t n = all - std::min(all, kLast); n < all; ++n) {
      tests::fail_allocation(n);
      try {
        open();
      } catch (const std::bad_alloc&) {
      }
      (void)tests::has_failed();
    }
    open();
  }
};

TEST_F(RefusedMemory, OpeningThrowsAndCanBeTriedAgain) {
  CollectionAccess access = small_access();
  access.link = true;
  open(access);
  insert_ids(0, 30);
  refuse_at_the_end([&] { open(access); });
  expect_same();
}

TEST_F(RefusedMemory, FollowingThrowsAndCanBeTriedAgain) {
  open();
  insert_ids(0, 30);
  collection_->flush();
  std::unique_ptr<CollectionFollower> follower;
  refuse_at_the_end([&] {
    follower.reset();
    follower =
        std::make_unique<CollectionFollower>(path(), small_segments(), FollowOptions{.link = true});
  });
  expect_holds(follower->view(), rows_, random_);
}

/// Segments in fibers of their own, and a memtable.
TEST_F(RefusedMemory, ASearchEndsAndTheNextOneFindsAll) {
  CollectionAccess access = small_access();
  access.merge = false;
  open(access);
  for (std::uint64_t id = 0; id < 90; id += 30) {
    insert_ids(id, id + 30);
    collection_->flush();
  }
  insert_ids(90, 100);
  expect_same();
  const std::vector<float> query = random_row(random_);
  bool failed = true;
  for (std::uint64_t n = 0; failed && n < 20'000; ++n) {
    search::TaskListFeed feed(2, kPatienceUs);
    for (search::SearchTask& task : feed.tasks()) {
      task.request.query = reinterpret_cast<const std::byte*>(query.data());
      task.request.parameters =
          search::SearchParameters::make(20, search::GraphChoice{.list = kAll}).value();
    }
    bool first = true;
    const auto core = make_collection_core(
        [&] {
          if (std::exchange(first, false)) tests::fail_allocation(n);
          return collection_->view();
        },
        1);
    core->run(feed);
    failed = tests::has_failed();
    ASSERT_EQ(feed.done_count(), 2u);
    EXPECT_EQ(feed.tasks()[1].answer.status.code(), StatusCode::ok) << n;
    EXPECT_EQ(feed.tasks()[1].answer.found, 20u) << n;
  }
  EXPECT_FALSE(failed);
}

MemtableOptions rows_of_seven(std::uint32_t capacity) {
  MemtableOptions options = memtable_options(small_shape());
  options.capacity = capacity;
  options.graph.place_rows = 1;
  return options;
}

void fill(Memtable& memtable, std::uint32_t count) {
  Random random(11);
  Batch batch;
  for (std::uint64_t id = 0; id < count; ++id) batch.add(id, random_row(random));
  memtable.append(batch.rows(), batch.ids());
}

TEST(MemtableWithoutMemory, RowsAreLinkedLater) {
  if (!tests::kRefusesMemory) GTEST_SKIP() << tests::kNoRefusals;
  constexpr std::uint32_t kRows = 400;
  Memtable memtable(rows_of_seven(kRows));
  fill(memtable, kRows);
  for (std::uint64_t n = 0; memtable.unlinked() > 0 && n < 20'000; ++n) {
    LinkScratch scratch;
    tests::fail_allocation(n % 60);
    try {
      while (memtable.link_next(scratch)) {
      }
    } catch (const std::bad_alloc&) {
    }
    (void)tests::has_failed();
  }
  ASSERT_EQ(memtable.unlinked(), 0u);
  // A way leads to each of them.
  const graph::Graph graph = memtable.graph();
  std::set<NodeId> reached{0};
  std::vector<NodeId> ways{0};
  while (!ways.empty()) {
    const NodeId row = ways.back();
    ways.pop_back();
    for (const NodeId next : graph.neighbors(row)) {
      EXPECT_NE(next, row) << "a way to itself";
      if (reached.insert(next).second) ways.push_back(next);
    }
  }
  EXPECT_EQ(reached.size(), kRows);
}

TEST(MemtableWithoutMemory, TheLinkerGoesOn) {
  const auto memtable = std::make_shared<Memtable>(rows_of_seven(100));
  fill(*memtable, 100);
  std::atomic<int> asked{0};
  const MemtableLinker linker([&] {
    if (asked++ < 2) throw std::bad_alloc();
    return std::vector<std::shared_ptr<Memtable>>{memtable};
  });
  EXPECT_TRUE(comes([&] { return memtable->unlinked() == 0; }));
}

}  // namespace
}  // namespace farvec::collection
