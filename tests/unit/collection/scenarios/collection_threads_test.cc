// Threads that change a collection and search it at once, and readers beside a writer.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/error.h"
#include "collection/read/collection_reader.h"
#include "tests/unit/collection/changing_collection.h"
#include "tests/unit/message_of.h"

namespace farvec::collection {
namespace {

constexpr std::uint64_t kWriters = 2;
constexpr std::uint64_t kIdsOfAWriter = 200;
constexpr int kBatches = 40;

/// The row that an id has when it is inserted for the n-th time. Anyone can compute it.
std::vector<float> row_of(std::uint64_t id, std::uint64_t n) {
  Random random(id * 1000 + n);
  return random_row(random);
}

/// Whether `distance` is that of `query` to one of the rows that the id had so far.
bool had_such_a_row(std::uint64_t id, float distance, const std::vector<float>& query) {
  const auto kernel = distance::pair_kernel(Metric::l2, ElementType::f32, kSmallDimension);
  for (std::uint64_t n = 0; n <= kBatches; ++n) {
    if (kernel(query.data(), row_of(id, n).data(), kSmallDimension) == distance) return true;
  }
  return false;
}

class CollectionThreads : public ChangingCollection {
 protected:
  /// Inserts and erases ids that no other writer has. What they should be is in `rows` at the end.
  void write(std::uint64_t writer, Rows& rows) {
    Random random(writer + 100);
    for (std::uint64_t n = 0; n < kBatches; ++n) {
      const std::uint64_t first = writer * kIdsOfAWriter + random.below(kIdsOfAWriter - 40);
      const std::uint64_t end = first + 3 + random.below(37);
      Batch batch;
      for (std::uint64_t id = first; id < end; ++id) {
        rows[id] = row_of(id, n);
        batch.add(id, rows[id]);
      }
      (void)insert(*collection_, batch);
      const std::vector<std::uint64_t> ids = {first, first + 1, first + 2};
      for (const std::uint64_t id : ids) rows.erase(id);
      (void)erase(*collection_, ids);
    }
  }

  /// Every second one of the imported ids, and some that were never there.
  void erase_imported() {
    for (std::uint64_t id = 1000; id < 1100; id += 2) (void)erase(*collection_, {id, id + 5000});
  }

  /// With a core of its own, until `stop`.
  void search_until(const std::atomic<bool>& stop, std::uint64_t seed) {
    Random random(seed);
    const auto core = make_collection_core([this] { return collection_->view(); }, 3);
    while (!stop) {
      const std::vector<float> query = random_row(random);
      std::vector<std::uint64_t> ids(20);
      std::vector<float> distances(20);
      search::TaskListFeed feed(1, kPatienceUs);
      search::SearchTask& task = feed.tasks().front();
      task.request.query = reinterpret_cast<const std::byte*>(query.data());
      task.request.parameters =
          search::SearchParameters::make(20, search::GraphChoice{.list = 60}).value();
      task.answer.ids = ids.data();
      task.answer.distances = distances.data();
      core->run(feed);
      ASSERT_TRUE(task.answer.status.ok()) << task.answer.status.message();
      const std::set<std::uint64_t> once(ids.begin(), ids.begin() + task.answer.found);
      ASSERT_EQ(once.size(), task.answer.found);
      for (std::uint32_t i = 0; i < task.answer.found; ++i) {
        ASSERT_TRUE(had_such_a_row(ids[i], distances[i], query)) << ids[i];
        ASSERT_TRUE(i == 0 || distances[i - 1] <= distances[i]);
      }
    }
  }

  void maintain_until(const std::atomic<bool>& stop) {
    for (int i = 0; !stop; ++i) {
      if (i % 3 == 0) {
        collection_->compact();
      } else {
        collection_->flush();
      }
    }
  }
};

TEST_F(CollectionThreads, LeaveWhatEachOfThemMade) {
  CollectionAccess access = small_access();
  access.link = true;
  open(access);
  std::atomic<bool> stop{false};
  std::vector<std::thread> others;
  others.emplace_back([&] { search_until(stop, 1); });
  others.emplace_back([&] { search_until(stop, 2); });
  others.emplace_back([&] { maintain_until(stop); });
  std::vector<Rows> rows(kWriters);
  std::vector<std::thread> writers;
  for (std::uint64_t w = 0; w < kWriters; ++w) {
    writers.emplace_back([&, w] { write(w, rows[w]); });
  }
  Batch batch;
  for (std::uint64_t id = 1000; id < 1100; ++id) {
    rows_[id] = row_of(id, 0);
    batch.add(id, rows_[id]);
  }
  const Receipt imported = collection_->import({batch.rows(), batch.ids()});
  EXPECT_EQ(imported.done, 100u);
  EXPECT_EQ(imported.replaced, 0u);
  writers.emplace_back([&] { erase_imported(); });
  for (std::thread& writer : writers) writer.join();
  stop = true;
  for (std::thread& other : others) other.join();
  for (const Rows& written : rows) rows_.insert(written.begin(), written.end());
  for (std::uint64_t id = 1000; id < 1100; id += 2) rows_.erase(id);
  expect_same();
  collection_->settle();
  expect_same();
  open();
  expect_same();
}

TEST_F(CollectionThreads, AReaderOpensWhateverAWriterDoes) {
  CollectionAccess access = small_access();
  access.durability = wal::Durability::commit;
  open(access);
  insert_ids(0, 100);
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (std::uint64_t n = 0; !stop; ++n) {
      Batch batch;
      for (std::uint64_t id = 0; id < 100; ++id) batch.add(id, row_of(id, n));
      (void)insert(*collection_, batch);
      if (n % 16 == 0) collection_->compact();
    }
  });
  for (int i = 0; i < 60; ++i) {
    const std::string failed = tests::message_of([&] {
      CollectionReader reader(path(), small_segments());
      EXPECT_EQ(size_of(*reader.view()).live, 100u);
      EXPECT_EQ(search_view(reader.view(), random_row(random_), 5).ids.size(), 5u);
    });
    EXPECT_EQ(failed, "");
  }
  stop = true;
  writer.join();
}

}  // namespace
}  // namespace farvec::collection
