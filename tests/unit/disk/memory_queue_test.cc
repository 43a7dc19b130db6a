#include "disk/memory_queue.h"

#include <cerrno>

#include "tests/unit/disk/disk_fixture.h"

namespace farvec::disk {
namespace {

class MemoryQueueTest : public DiskTest {
 protected:
  std::unique_ptr<MemoryQueue> open_queue() {
    return std::make_unique<MemoryQueue>(
        open_files({path()}), std::as_bytes(std::span(content_.data(), content_.size())), 16);
  }
};

TEST_F(MemoryQueueTest, AnEngineReadsWhatTheFileHolds) {
  make_file(20 * kBlock + 1234);
  DiskEngine engine(open_queue());
  HugeBuffer memory(4 * kBlock);
  Random random(5);
  for (int round = 0; round < 50; ++round) {
    const std::uint64_t offset = random.below(content_.size());
    const auto bytes = static_cast<std::uint32_t>(
        1 + random.below(std::min<std::uint64_t>(content_.size() - offset, 2 * kBlock)));
    const BlockRange range = engine.files()[0]->cover(offset, bytes);
    const DiskRequest read{7, range.offset, memory.data(), in_us(kLongUs), range.bytes, 0};
    ASSERT_TRUE(engine.post({&read, 1}).ok());
    const auto completions = await(engine, 1);
    ASSERT_EQ(completions.front().status, StatusCode::ok);
    EXPECT_EQ(text(memory.data() + range.skip, bytes), content_.substr(offset, bytes));
  }
}

TEST_F(MemoryQueueTest, KnowsOneFileAndEndsWithIt) {
  make_file(kBlock + 100);
  const auto queue = open_queue();
  HugeBuffer memory(2 * kBlock);
  const BlockRequest reads[] = {{1, kBlock, memory.data(), kBlock, 0},
                                {2, 0, memory.data() + kBlock, kBlock, 1}};
  queue->submit(reads);
  BlockResult results[4];
  ASSERT_EQ(queue->reap(results), 2u);
  EXPECT_EQ(results[0].result, 100);
  EXPECT_EQ(results[1].result, -EBADF);
  EXPECT_EQ(queue->reap(results), 0u);
}

}  // namespace
}  // namespace farvec::disk
