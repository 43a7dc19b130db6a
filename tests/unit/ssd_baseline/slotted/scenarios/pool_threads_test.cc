#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "ssd_baseline/slotted/pool/page_pool.h"
#include "ssd_baseline/slotted/pool/pool_budget.h"
#include "ssd_baseline/slotted/pool/record_pool.h"
#include "ssd_baseline/slotted/pool/record_reader.h"
#include "tests/unit/ssd_baseline/slotted/pool_fixture.h"

namespace farvec::slotted {
namespace {

using testing::FakeCodec;
using testing::FakeDisk;

constexpr std::size_t kRecords = 240;
constexpr std::uint32_t kFibers = 6;

/// A core of its own thread over a pool that it shares: fibers that read random records, some of
/// them often, and prefetch others. Like a core of a collection, it settles the budget of its
/// pools. Returns what it has counted.
template <typename Pool>
PoolCounts hammer(Pool& pool, std::uint64_t seed, std::atomic<std::uint64_t>& wrong,
                  PoolBudget* budget) {
  coroutines::Scheduler scheduler({kFibers, 64 * 1024});
  FakeDisk disk(seed);
  RecordReader<Pool> reader(pool, disk, scheduler, kFibers, {5, testing::kPageBytes});
  disk.set_sink(&reader.pages());
  disk.faults[7] = {StatusCode::data_loss, "a bad block"};
  scheduler.set_poller([&] {
    if (budget != nullptr) budget->settle();
    return disk.progress();
  });
  for (std::uint32_t lane = 0; lane < kFibers; ++lane) {
    EXPECT_TRUE(scheduler
                    .spawn([&, lane] {
                      Random random(seed * kFibers + lane);
                      for (int i = 0; i < 300; ++i) {
                        NodeId ids[3];
                        for (NodeId& id : ids) {
                          id = static_cast<NodeId>(
                              random.below(random.below(3) == 0 ? kRecords : kRecords / 8));
                        }
                        reader.prefetch(lane, static_cast<NodeId>(random.below(kRecords)));
                        const Status status = reader.read(
                            lane, ids, coroutines::kNoDeadline,
                            [&](NodeId id, std::span<const std::byte> record) {
                              // Relaxed: read after the threads have been joined.
                              if (!testing::is_record(id, record)) {
                                wrong.fetch_add(1, std::memory_order_relaxed);
                              }
                              return Status();
                            },
                            [](NodeId id) { return id % 3 == 0; });
                        const bool bad = std::any_of(std::begin(ids), std::end(ids),
                                                     [](NodeId id) { return id / 4 == 7; });
                        if (status.ok() == bad) wrong.fetch_add(1, std::memory_order_relaxed);
                      }
                    })
                    .ok());
  }
  scheduler.run();
  disk.close();
  return reader.counts();
}

template <typename Pool>
void hammer_from_threads(Pool& pool, PoolBudget* budget = nullptr) {
  std::atomic<std::uint64_t> wrong{0};
  std::vector<PoolCounts> counts(3);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < counts.size(); ++t) {
    threads.emplace_back([&, t] { counts[t] = hammer(pool, t + 1, wrong, budget); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0u);
  PoolCounts sum;
  for (const PoolCounts& one : counts) sum += one;
  EXPECT_GT(sum.hits, 0u);
  EXPECT_GT(sum.evictions, 0u);
  EXPECT_GT(sum.reads, 0u);
  for (NodeId id = 0; id < kRecords; ++id) {
    EXPECT_NE(pool.place(id).state, RecordPlace::State::loading) << "a slot leaked";
    if (pool.place(id).state == RecordPlace::State::absent) {
      EXPECT_EQ(pool.place(id).page, id / 4);
    }
  }
}

TEST(PoolThreads, ManyCoresShareATinyRecordPool) {
  std::vector<std::uint32_t> map = testing::map_of(kRecords);
  RecordPool<FakeCodec> pool({}, map, {.slots = 10, .max_record_bytes = testing::kRecordBytes});
  hammer_from_threads(pool);
}

TEST(PoolThreads, ManyCoresShareALargerRecordPool) {
  std::vector<std::uint32_t> map = testing::map_of(kRecords);
  RecordPool<FakeCodec> pool({}, map, {.slots = 100, .max_record_bytes = testing::kRecordBytes});
  hammer_from_threads(pool);
}

TEST(PoolThreads, ManyCoresShareARecordPoolThatIsResized) {
  std::vector<std::uint32_t> map = testing::map_of(kRecords);
  RecordPool<FakeCodec> pool({}, map, {.slots = 100, .max_record_bytes = testing::kRecordBytes});
  std::atomic<bool> stop{false};
  std::thread resizer([&] {
    Random random(9);
    // Relaxed: it is a flag and nothing else.
    while (!stop.load(std::memory_order_relaxed)) {
      const std::size_t slots = 2 + random.below(99);
      EXPECT_GE(pool.resize(slots), slots);
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  });
  hammer_from_threads(pool);
  stop.store(true, std::memory_order_relaxed);
  resizer.join();
  EXPECT_EQ(pool.resize(0), 0u) << "nobody uses it";
  for (NodeId id = 0; id < kRecords; ++id) {
    EXPECT_EQ(pool.place(id).state, RecordPlace::State::absent);
    EXPECT_EQ(pool.place(id).page, id / 4);
  }
}

/// A pool that begins without slots and shares a budget, like that of a segment.
class SharingPool {
 public:
  static constexpr std::size_t kSlots = 100;
  using Pool = RecordPool<FakeCodec>;

  explicit SharingPool(const std::shared_ptr<PoolBudget>& budget)
      : share_(budget->join({.core_bytes = 1000,
                             .fixed_bytes = 100,
                             .slot_bytes = Pool::slot_bytes(testing::kRecordBytes),
                             .most_slots = kSlots},
                            [this](std::size_t slots) { return pool_.resize(slots); })) {}
  ~SharingPool() { share_->detach(); }
  SharingPool(const SharingPool&) = delete;
  SharingPool& operator=(const SharingPool&) = delete;

  Pool& pool() { return pool_; }
  std::size_t bytes() const { return share_->bytes(); }

 private:
  std::vector<std::uint32_t> map_ = testing::map_of(kRecords);
  Pool pool_{
      {}, map_, {.slots = kSlots, .max_record_bytes = testing::kRecordBytes, .begin_empty = true}};
  const std::unique_ptr<PoolBudget::Share> share_;
};

/// Segments come and go while others are searched, which give their slots up and get them back.
TEST(PoolThreads, PoolsShareABudgetWhileCoresSearchThem) {
  const std::size_t slot = RecordPool<FakeCodec>::slot_bytes(testing::kRecordBytes);
  const auto budget = std::make_shared<PoolBudget>(1300 + 120 * slot);
  SharingPool first(budget);
  SharingPool second(budget);
  std::atomic<bool> stop{false};
  std::atomic<int> came{0};
  std::thread comes([&] {
    // Relaxed: these are a flag and a count and nothing else.
    while (!stop.load(std::memory_order_relaxed)) {
      const SharingPool third(budget);
      EXPECT_LE(budget->used(), budget->bytes());
      came.fetch_add(1, std::memory_order_relaxed);
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  });
  std::thread searching([&] { hammer_from_threads(second.pool(), budget.get()); });
  hammer_from_threads(first.pool(), budget.get());
  searching.join();
  stop.store(true, std::memory_order_relaxed);
  comes.join();
  EXPECT_GT(came.load(), 1);
  budget->settle();
  for (SharingPool* one : {&first, &second}) {
    EXPECT_EQ(one->pool().slots(), 60u) << "each has its half again";
    EXPECT_EQ(one->bytes(), 100 + 60 * slot);
  }
}

TEST(PoolThreads, ManyCoresShareATinyPagePool) {
  std::vector<std::uint32_t> map = testing::map_of(kRecords);
  PagePool<FakeCodec> pool({}, map, {.frames = 8, .page_bytes = testing::kPageBytes, .pages = 60});
  hammer_from_threads(pool);
}

}  // namespace
}  // namespace farvec::slotted
