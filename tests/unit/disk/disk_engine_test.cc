#include "disk/disk_engine.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <thread>

#include "tests/unit/disk/disk_fixture.h"

namespace farvec::disk {
namespace {

std::string pread_oracle(const std::string& path, std::uint64_t offset, std::size_t bytes) {
  std::string out(bytes, '\0');
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const ssize_t got = pread(file, out.data(), bytes, static_cast<off_t>(offset));
  close(file);
  out.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return out;
}

/// With and without what only newer kernels have, with and without registered memory.
class EveryEngine : public DiskTest, public testing::WithParamInterface<std::pair<bool, bool>> {
 protected:
  std::unique_ptr<DiskEngine> open_engine() {
    auto engine = open({.capacity = 16, .plain = GetParam().first});
    if (GetParam().second) engine->register_memory(memory_.span());
    return engine;
  }
};

INSTANTIATE_TEST_SUITE_P(Rings, EveryEngine,
                         testing::Values(std::pair(false, true), std::pair(false, false),
                                         std::pair(true, true), std::pair(true, false)),
                         [](const auto& test) {
                           return std::string(test.param.first ? "Plain" : "Deferred") +
                                  (test.param.second ? "Registered" : "Unregistered");
                         });

TEST_P(EveryEngine, BringsWhatPreadBrings) {
  make_file(50 * kBlock + 1234);
  auto engine = open_engine();
  const DiskFile& file = *engine->files()[0];
  Random random(3);
  for (int round = 0; round < 40; ++round) {
    std::vector<DiskRequest> reads;
    std::vector<std::pair<std::uint64_t, std::uint32_t>> asked;
    std::vector<std::uint32_t> skips;
    for (std::uint64_t i = 0; i < 16; ++i) {
      const std::uint64_t offset = random.below(content_.size());
      const auto bytes = static_cast<std::uint32_t>(
          1 + random.below(std::min<std::uint64_t>(content_.size() - offset, 3 * kBlock)));
      const BlockRange range = file.cover(offset, bytes);
      asked.emplace_back(offset, bytes);
      skips.push_back(range.skip);
      reads.push_back(read(i, range.offset, range.bytes));
    }
    ASSERT_TRUE(engine->post(reads).ok());
    EXPECT_EQ(engine->room(), 0u);
    for (const DiskCompletion& completion : await(*engine, 16)) {
      const auto [offset, bytes] = asked[completion.token];
      ASSERT_EQ(completion.status, StatusCode::ok);
      ASSERT_GE(completion.bytes, skips[completion.token] + bytes);
      ASSERT_EQ(text(destination(completion.token) + skips[completion.token], bytes),
                pread_oracle(path(), offset, bytes));
    }
    EXPECT_EQ(engine->outstanding(), 0u);
  }
}

TEST_P(EveryEngine, ReadsTheLastPartOfABlock) {
  for (const std::size_t size : {std::size_t{1}, std::size_t{511}, std::size_t{kBlock + 1}}) {
    make_file(size);
    auto engine = open_engine();
    const DiskFile& file = *engine->files()[0];
    const BlockRange last = file.cover(size - 1, 1);
    ASSERT_TRUE(engine->post(std::vector{read(0, last.offset, last.bytes)}).ok());
    const auto found = await(*engine, 1);
    ASSERT_EQ(found[0].status, StatusCode::ok);
    EXPECT_EQ(found[0].bytes, size - last.offset);
    EXPECT_EQ(text(destination(0), found[0].bytes), content_.substr(last.offset));
  }
}

TEST_P(EveryEngine, RefusesWhatIsNotAlignedOrOutside) {
  make_file(4 * kBlock);
  auto engine = open_engine();
  const std::uint32_t block = engine->files()[0]->block_bytes();
  const auto code = [&](DiskRequest wrong) {
    return engine->post(std::vector{read(0, 0), wrong}).code();
  };
  EXPECT_EQ(code(read(1, 1)), StatusCode::invalid_argument);
  EXPECT_EQ(code(read(1, 0, block - 1)), StatusCode::invalid_argument);
  EXPECT_EQ(code(read(1, 0, 0)), StatusCode::invalid_argument);
  EXPECT_EQ(code(read(1, 4 * kBlock)), StatusCode::invalid_argument);
  EXPECT_EQ(code(read(1, 4 * kBlock - block, 2 * block)), StatusCode::invalid_argument);
  EXPECT_EQ(code(read(1, ~std::uint64_t{0} & ~std::uint64_t{kBlock - 1}, kBlock)),
            StatusCode::invalid_argument);
  DiskRequest wrong = read(1, 0);
  wrong.memory += 1;
  EXPECT_EQ(code(wrong), StatusCode::invalid_argument);
  wrong.memory = nullptr;
  EXPECT_EQ(code(wrong), StatusCode::invalid_argument);
  wrong = read(1, 0);
  wrong.file = 1;
  EXPECT_EQ(code(wrong), StatusCode::invalid_argument);
  // None of the call was started.
  EXPECT_EQ(engine->outstanding(), 0u);
  EXPECT_TRUE(engine->post(std::vector{read(1, 4 * kBlock - block, block)}).ok());
  await(*engine, 1);
}

TEST_P(EveryEngine, AnEmptyFileHasNothingToRead) {
  make_file(0);
  auto engine = open_engine();
  EXPECT_EQ(engine->post(std::vector{read(0, 0)}).code(), StatusCode::invalid_argument);
}

TEST_P(EveryEngine, TakesNoMoreReadsThanItHasRoomFor) {
  make_file(20 * kBlock);
  auto engine = open_engine();
  std::vector<DiskRequest> reads;
  for (std::uint64_t i = 0; i < 17; ++i) reads.push_back(read(i, i * kBlock));
  EXPECT_EQ(engine->post(reads).code(), StatusCode::resource_exhausted);
  EXPECT_EQ(engine->outstanding(), 0u);
  reads.pop_back();
  ASSERT_TRUE(engine->post(reads).ok());
  EXPECT_EQ(engine->post(std::vector{read(17, 0)}).code(), StatusCode::resource_exhausted);
  await(*engine, 16);
  EXPECT_TRUE(engine->post(std::vector{read(17, 0)}).ok());
  await(*engine, 1);
}

TEST_P(EveryEngine, AFileThatBecomesShorterIsDataLoss) {
  make_file(8 * kBlock);
  auto engine = open_engine();
  std::filesystem::resize_file(path(), 2 * kBlock + 100);
  ASSERT_TRUE(engine
                  ->post(std::vector{read(0, 0), read(1, 2 * kBlock), read(2, 6 * kBlock),
                                     read(3, kBlock, 4 * kBlock)})
                  .ok());
  std::map<std::uint64_t, DiskCompletion> found;
  for (const auto& completion : await(*engine, 4)) found[completion.token] = completion;
  EXPECT_EQ(found[0].status, StatusCode::ok);
  for (const std::uint64_t token : {1, 2, 3}) {
    EXPECT_EQ(found[token].status, StatusCode::data_loss) << token;
    EXPECT_TRUE(found[token].returned);
  }
  EXPECT_EQ(found[2].bytes, 0u);
}

TEST_P(EveryEngine, ClosesWithReadsOut) {
  make_file(20 * kBlock);
  auto engine = open_engine();
  std::vector<DiskRequest> reads;
  for (std::uint64_t i = 0; i < 16; ++i) reads.push_back(read(i, i * kBlock, 4 * kBlock));
  ASSERT_TRUE(engine->post(reads).ok());
  engine->close();
  engine->close();
  EXPECT_EQ(engine->outstanding(), 0u);
  DiskCompletion completion;
  EXPECT_EQ(engine->poll({&completion, 1}), 0u);
  EXPECT_EQ(engine->post(reads).code(), StatusCode::unavailable);
  EXPECT_EQ(engine->room(), 0u);
}

TEST_P(EveryEngine, MayBeMadeByOneThreadAndUsedByAnother) {
  make_file(4 * kBlock);
  auto engine = open_engine();
  std::thread([&] {
    ASSERT_TRUE(engine->post(std::vector{read(0, kBlock)}).ok());
    EXPECT_EQ(await(*engine, 1)[0].status, StatusCode::ok);
  }).join();
  engine.reset();
  EXPECT_EQ(text(destination(0), kBlock), content_.substr(kBlock, kBlock));
}

TEST_F(DiskTest, EveryThreadHasAnEngineOfTheSameFiles) {
  make_file(64 * kBlock);
  const std::string other = write_random(folder_.file("other"), 8 * kBlock, 2);
  const DiskFiles files = open_files({path(), folder_.file("other")});
  const auto work = [&](std::uint64_t first) {
    auto engine = open_disk(files, 4);
    for (std::uint64_t i = 0; i < 8; ++i) {
      DiskRequest second = read(first + 1, i * kBlock);
      second.file = 1;
      ASSERT_TRUE(engine->post(std::vector{read(first, i * 8 * kBlock), second}).ok());
      await(*engine, 2);
      EXPECT_EQ(text(destination(first), kBlock), content_.substr(i * 8 * kBlock, kBlock));
      EXPECT_EQ(text(destination(first + 1), kBlock), other.substr(i * kBlock, kBlock));
    }
  };
  std::thread thread(work, 0);
  work(2);
  thread.join();
}

TEST_F(DiskTest, MemoryMayBeRegisteredAgain) {
  make_file(4 * kBlock);
  auto engine = open();
  for (std::uint64_t i = 0; i < 300; ++i) {  // more often than there are places for ranges
    engine->register_memory(memory_.span().first((i % 4 + 1) * kStretch));
    ASSERT_TRUE(engine->post(std::vector{read(0, i % 4 * kBlock)}).ok());
    ASSERT_EQ(await(*engine, 1)[0].status, StatusCode::ok);
    ASSERT_EQ(text(destination(0), kBlock), content_.substr(i % 4 * kBlock, kBlock));
  }
}

TEST_F(DiskTest, SaysWhatItIs) {
  make_file(1);
  EXPECT_THAT(open()->description(), testing::HasSubstr(path()));
  EXPECT_THAT(open({.capacity = 1, .plain = true})->description(),
              testing::HasSubstr("plain completions"));
}

TEST_F(DiskTest, TheQueueIsNotOfAnySize) {
  make_file(1);
  EXPECT_THROW(open({.capacity = 0}), Error);
  EXPECT_THROW(open({.capacity = kMaxQueuedRequests + 1}), Error);
  EXPECT_EQ(open({.capacity = kMaxQueuedRequests})->room(), kMaxQueuedRequests);
}

}  // namespace
}  // namespace farvec::disk
