#include "ssd_baseline/slotted/pool/record_reader.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "ssd_baseline/slotted/pool/page_pool.h"
#include "ssd_baseline/slotted/pool/record_pool.h"
#include "tests/unit/ssd_baseline/slotted/pool_fixture.h"

namespace farvec::slotted {
namespace {

using testing::FakeCodec;
using testing::FakeDisk;
using testing::is_record;

constexpr std::size_t kRecords = 400;

template <typename Pool>
Pool make_pool(std::vector<std::uint32_t>& map, std::size_t slots) {
  if constexpr (std::is_same_v<Pool, RecordPool<FakeCodec>>) {
    return Pool({}, map, {slots, testing::kRecordBytes});
  } else {
    return Pool({}, map, {slots, testing::kPageBytes, kRecords / testing::kPerPage});
  }
}

/// One core: a pool, a disk and fibers.
template <typename Pool>
struct Core {
  explicit Core(std::size_t slots, std::uint32_t lanes = 8, std::uint32_t buffers = 16)
      : pool(make_pool<Pool>(map, slots)),
        scheduler({lanes, 64 * 1024}),
        reader(pool, disk, scheduler, lanes, {buffers, testing::kPageBytes}) {
    disk.set_sink(&reader.pages());
    scheduler.set_poller([this] { return disk.progress(); });
  }

  /// One fiber for each of `bodies`, to their end.
  void run(const std::vector<std::function<void(std::uint32_t lane)>>& bodies) {
    for (std::uint32_t lane = 0; lane < bodies.size(); ++lane) {
      ASSERT_TRUE(scheduler.spawn([&, lane] { bodies[lane](lane); }).ok());
    }
    scheduler.run();
  }
  /// Ends the prefetches too.
  void drain() {
    while (disk.progress()) {
    }
  }

  Status read(std::uint32_t lane, std::vector<NodeId> ids,
              Ticks deadline = coroutines::kNoDeadline) {
    std::multiset<NodeId> seen;
    const auto see = [&](NodeId id, std::span<const std::byte> record) {
      EXPECT_TRUE(is_record(id, record)) << id;
      seen.insert(id);
      return Status();
    };
    const Status status = reader.read(lane, ids, deadline, see, testing::wants_none);
    if (status.ok()) {
      EXPECT_EQ(seen, std::multiset<NodeId>(ids.begin(), ids.end()));
    }
    return status;
  }

  std::vector<std::uint32_t> map = testing::map_of(kRecords);
  Pool pool;
  coroutines::Scheduler scheduler;
  FakeDisk disk;
  RecordReader<Pool> reader;
};

template <typename Pool>
class RecordReaderTest : public ::testing::Test {};
using Pools = ::testing::Types<RecordPool<FakeCodec>, PagePool<FakeCodec>>;
TYPED_TEST_SUITE(RecordReaderTest, Pools);

TYPED_TEST(RecordReaderTest, ReadsOnceAndHitsThen) {
  Core<TypeParam> core(20);
  core.run({[&](std::uint32_t lane) {
    EXPECT_TRUE(core.read(lane, {9, 40, 200}).ok());
    EXPECT_TRUE(core.read(lane, {9, 40, 200}).ok());
    EXPECT_TRUE(core.read(lane, {}).ok());
  }});
  const PoolCounts counts = core.reader.counts();
  EXPECT_EQ(counts.hits, 3u);
  EXPECT_EQ(counts.misses, 3u);
  EXPECT_EQ(counts.reads, 3u);
  EXPECT_EQ(counts.bypasses, 0u);
  EXPECT_EQ(core.disk.starts, 1u) << "one call of the disk for a frontier";
  EXPECT_DOUBLE_EQ(counts.hit_rate(), 0.5);
}

TYPED_TEST(RecordReaderTest, FibersShareTheReadOfAPage) {
  Core<TypeParam> core(20);
  core.run({
      [&](std::uint32_t lane) { EXPECT_TRUE(core.read(lane, {8}).ok()); },
      [&](std::uint32_t lane) { EXPECT_TRUE(core.read(lane, {8}).ok()); },
      [&](std::uint32_t lane) {
        EXPECT_TRUE(core.read(lane, {10, 11}).ok());
      },
  });
  EXPECT_EQ(core.disk.reads, std::vector<std::uint32_t>{2});
  const PoolCounts counts = core.reader.counts();
  EXPECT_EQ(counts.misses, 4u);
  EXPECT_EQ(counts.shared, 3u);
  core.run({[&](std::uint32_t lane) { EXPECT_TRUE(core.read(lane, {8, 10, 11}).ok()); }});
  EXPECT_EQ(core.reader.counts().hits, 3u) << "all that were asked for are kept";
}

TYPED_TEST(RecordReaderTest, PrefetchesWhatNobodyWaitsFor) {
  Core<TypeParam> core(20);
  core.disk.max_delay = 0;
  core.run({[&](std::uint32_t lane) {
    core.reader.prefetch(lane, 40);
    core.reader.prefetch(lane, 40);
    core.reader.prefetch(lane, 41);
    EXPECT_EQ(core.disk.starts, 0u) << "it goes out with the next read";
    EXPECT_TRUE(core.read(lane, {100}).ok());
    EXPECT_EQ(core.disk.starts, 1u);
    EXPECT_TRUE(core.reader.resident(40));
    EXPECT_TRUE(core.reader.resident(41));
    EXPECT_TRUE(core.read(lane, {40, 41}).ok());
  }});
  const PoolCounts counts = core.reader.counts();
  EXPECT_EQ(counts.reads, 2u);
  EXPECT_EQ(counts.prefetches, 1u);
  EXPECT_EQ(counts.hits, 2u);
}

TYPED_TEST(RecordReaderTest, EndsWithThePrefetchesThatNobodyStarted) {
  Core<TypeParam> core(20);
  core.run({[&](std::uint32_t lane) { core.reader.prefetch(lane, 40); }});
  EXPECT_EQ(core.disk.starts, 0u);
}

TYPED_TEST(RecordReaderTest, APoolSmallerThanTheFibersIsGoneAround) {
  Core<TypeParam> core(1, 16, 4);
  std::vector<std::function<void(std::uint32_t)>> bodies;
  for (NodeId f = 0; f < 16; ++f) {
    bodies.emplace_back([&core, f](std::uint32_t lane) {
      for (NodeId i = 0; i < 20; ++i) {
        const NodeId base = (f * 31 + i * 17) % (kRecords - 40);
        EXPECT_TRUE(core.read(lane, {base, base + 8, base + 16, base + 30}).ok());
      }
    });
  }
  core.run(bodies);
  const PoolCounts counts = core.reader.counts();
  EXPECT_GT(counts.bypasses, 0u);
  EXPECT_EQ(counts.hits + counts.misses, 16u * 20 * 4);
  EXPECT_EQ(core.reader.pages().under_way(), 0u);
}

TYPED_TEST(RecordReaderTest, NoPoolAtAllReadsEveryTime) {
  Core<TypeParam> core(0, 1, 4);
  core.run({[&](std::uint32_t lane) {
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(core.read(lane, {1, 50}).ok());
  }});
  const PoolCounts counts = core.reader.counts();
  EXPECT_EQ(counts.reads, 6u);
  EXPECT_EQ(counts.bypasses, 6u);
  EXPECT_EQ(counts.hits, 0u);
}

TYPED_TEST(RecordReaderTest, AFailedReadEndsAllThatWaitAndLeavesNothing) {
  constexpr std::size_t kPages = 4;
  constexpr bool kOfPages = std::is_same_v<TypeParam, PagePool<FakeCodec>>;
  Core<TypeParam> core(kOfPages ? kPages : kPages * testing::kPerPage);
  core.disk.faults[2] = {StatusCode::data_loss, "a bad block"};
  const auto fails = [&](std::uint32_t lane) {
    EXPECT_EQ(core.read(lane, {8, 104}).code(), StatusCode::data_loss);
  };
  core.run({fails, fails, [&](std::uint32_t lane) { EXPECT_TRUE(core.read(lane, {104}).ok()); }});
  EXPECT_FALSE(core.reader.resident(8));
  EXPECT_EQ(core.reader.pages().under_way(), 0u);
  core.disk.faults.clear();
  core.run({[&](std::uint32_t lane) { EXPECT_TRUE(core.read(lane, {8, 104, 16, 24}).ok()); }});
  EXPECT_EQ(core.reader.counts().evictions, 0u) << "the slot of the failed read was free";
}

TYPED_TEST(RecordReaderTest, ADamagedPageIsDataLoss) {
  Core<TypeParam> core(4);
  core.disk.damaged.insert(2);
  core.run({[&](std::uint32_t lane) {
    core.reader.prefetch(lane, 9);
    EXPECT_TRUE(core.read(lane, {100}).ok());
    EXPECT_EQ(core.read(lane, {8}).code(), StatusCode::data_loss);
    core.disk.damaged.clear();
    EXPECT_TRUE(core.read(lane, {8, 9}).ok());
  }});
}

TYPED_TEST(RecordReaderTest, ARefusedStartEndsTheSearchesThatWait) {
  Core<TypeParam> core(4);
  core.disk.refusal = {StatusCode::unavailable, "the disk is gone"};
  core.run({[&](std::uint32_t lane) {
    core.reader.prefetch(lane, 50);
    EXPECT_EQ(core.read(lane, {8}).code(), StatusCode::unavailable);
    EXPECT_FALSE(core.reader.resident(50));
    core.disk.refusal = {};
    EXPECT_TRUE(core.read(lane, {8, 50}).ok());
  }});
}

TYPED_TEST(RecordReaderTest, ADeadlineEndsTheSearchAndTheReadGoesOn) {
  Core<TypeParam> core(4);
  core.disk.paused = true;
  core.run({[&](std::uint32_t lane) {
    EXPECT_EQ(core.read(lane, {8, 40}, now_ticks() + us_to_ticks(500)).code(),
              StatusCode::deadline_exceeded);
  }});
  EXPECT_EQ(core.reader.pages().under_way(), 2u);
  core.disk.paused = false;
  core.drain();
  EXPECT_TRUE(core.reader.resident(8));
  EXPECT_EQ(core.reader.pages().under_way(), 0u);
}

TYPED_TEST(RecordReaderTest, ABufferThatTheDiskKeepsIsNotUsedAgain) {
  Core<TypeParam> core(4, 2, 2);
  core.disk.late.insert(2);
  core.run({[&](std::uint32_t lane) {
    EXPECT_EQ(core.read(lane, {8}).code(), StatusCode::deadline_exceeded);
    EXPECT_EQ(core.reader.pages().unused(), 1u);
    EXPECT_TRUE(core.read(lane, {40, 80, 120}).ok()) << "one buffer is left";
  }});
  core.disk.close();
  EXPECT_EQ(core.reader.pages().unused(), 2u);
}

TYPED_TEST(RecordReaderTest, AnErrorOfTheVisitorEndsTheRead) {
  Core<TypeParam> core(8);
  core.run({[&](std::uint32_t lane) {
    const NodeId ids[] = {8, 40, 80};
    const auto visit = [](NodeId, std::span<const std::byte>) {
      return Status(StatusCode::internal, "no");
    };
    EXPECT_EQ(
        core.reader.read(lane, ids, coroutines::kNoDeadline, visit, testing::wants_none).code(),
        StatusCode::internal);
    EXPECT_EQ(core.reader.pages().under_way(), 0u);
    EXPECT_EQ(
        core.reader.read(lane, ids, coroutines::kNoDeadline, visit, testing::wants_none).code(),
        StatusCode::internal)
        << "out of the pool now";
    EXPECT_TRUE(core.read(lane, {8, 40, 80}).ok());
  }});
}

TYPED_TEST(RecordReaderTest, VisitsAndKeepsWhatIsWantedOfAPage) {
  Core<TypeParam> core(20);
  std::vector<NodeId> seen;
  const auto see = [&](NodeId id, std::span<const std::byte> record) {
    EXPECT_TRUE(is_record(id, record));
    seen.push_back(id);
    return Status();
  };
  const NodeId ids[] = {9, 40};
  core.run({[&](std::uint32_t lane) {
    const auto wanted = [&](NodeId id) {
      EXPECT_EQ(seen.front() / 4, id / 4) << "asked behind the record that the page came for";
      return id == 10;
    };
    EXPECT_TRUE(
        core.reader.read(lane, std::span(ids).first(1), coroutines::kNoDeadline, see, wanted).ok());
    EXPECT_EQ(seen, (std::vector<NodeId>{9, 10}));
    EXPECT_TRUE(core.reader.resident(10));
    EXPECT_TRUE(core.read(lane, {10}).ok());
  }});
  EXPECT_EQ(core.reader.counts().along, 1u);
  EXPECT_EQ(core.reader.counts().hits, 1u);
  EXPECT_EQ(core.reader.counts().reads, 1u);
}

TYPED_TEST(RecordReaderTest, AnErrorWithWhatIsWantedEndsTheRead) {
  Core<TypeParam> core(20);
  const NodeId ids[] = {9};
  core.run({[&](std::uint32_t lane) {
    const auto refuse = [](NodeId id, std::span<const std::byte>) {
      return id == 9 ? Status() : Status(StatusCode::internal, "no");
    };
    const auto all = [](NodeId id) { return id != 9; };
    EXPECT_EQ(core.reader.read(lane, ids, coroutines::kNoDeadline, refuse, all).code(),
              StatusCode::internal);
    EXPECT_EQ(core.reader.pages().under_way(), 0u);
    EXPECT_TRUE(core.read(lane, {8, 9, 10, 11}).ok());
  }});
}

TEST(RecordPoolReader, TakesAffineRecordsAlong) {
  Core<RecordPool<FakeCodec>> core(4);
  core.run({[&](std::uint32_t lane) {
    EXPECT_TRUE(core.read(lane, {96, 104, 112, 120}).ok());
    EXPECT_TRUE(core.read(lane, {4}).ok());  // page 1: 4 and 5 are affine
    EXPECT_TRUE(core.reader.resident(5));
    EXPECT_FALSE(core.reader.resident(6));
    EXPECT_TRUE(core.read(lane, {5}).ok());
  }});
  EXPECT_EQ(core.reader.counts().kept, 1u);
  EXPECT_EQ(core.reader.counts().reads, 5u);
}

/// Two indexes of one core, each with more to read than there are buffers.
TYPED_TEST(RecordReaderTest, ReadersOfTwoIndexesShareBuffers) {
  const auto memory = std::make_shared<ReadBuffers>(2, testing::kPageBytes);
  coroutines::Scheduler scheduler({8, 64 * 1024});
  std::vector<std::uint32_t> maps[2] = {testing::map_of(kRecords), testing::map_of(kRecords)};
  TypeParam pools[2] = {make_pool<TypeParam>(maps[0], 20), make_pool<TypeParam>(maps[1], 20)};
  FakeDisk disks[2];
  const PagesUnderWayOptions options{
      .buffers = 16, .page_bytes = testing::kPageBytes, .memory = memory};
  RecordReader<TypeParam> readers[2] = {{pools[0], disks[0], scheduler, 4, options},
                                        {pools[1], disks[1], scheduler, 4, options}};
  for (int i = 0; i < 2; ++i) disks[i].set_sink(&readers[i].pages());
  scheduler.set_poller([&] { return disks[0].progress() | disks[1].progress(); });
  int seen = 0;
  for (std::uint32_t fiber = 0; fiber < 8; ++fiber) {
    ASSERT_TRUE(scheduler
                    .spawn([&, fiber] {
                      for (NodeId id = 0; id < 40; ++id) {
                        const NodeId ids[3] = {id * 8 % 390, id * 8 % 390 + 5, fiber * 30};
                        readers[fiber % 2].prefetch(fiber / 2, (id * 8 + 100) % kRecords);
                        const Status status = readers[fiber % 2].read(
                            fiber / 2, ids, coroutines::kNoDeadline,
                            [&](NodeId found, std::span<const std::byte> record) {
                              EXPECT_TRUE(is_record(found, record)) << found;
                              ++seen;
                              return Status();
                            },
                            testing::wants_none);
                        EXPECT_TRUE(status.ok()) << status.message();
                      }
                    })
                    .ok());
  }
  scheduler.run();
  EXPECT_EQ(seen, 8 * 40 * 3);
  while (disks[0].progress() | disks[1].progress()) {
  }
  EXPECT_EQ(memory->unused(), 2u) << "each was given back";
}

}  // namespace
}  // namespace farvec::slotted
