// What the engine makes of a disk that fails.
#include <gtest/gtest.h>

#include "tests/unit/disk/disk_fixture.h"

namespace farvec::disk {
namespace {

TEST_F(DiskTest, ABlockThatCannotBeReadFailsItsReadsOnly) {
  make_file(16 * kBlock);
  auto engine = open_faulty({.bad_blocks = {{.offset = 5 * kBlock + 100, .bytes = 1}}});
  std::vector<DiskRequest> reads;
  for (std::uint64_t i = 0; i < 8; ++i) reads.push_back(read(i, i * kBlock));
  reads.push_back(read(8, 3 * kBlock, 4 * kBlock));
  ASSERT_TRUE(engine->post(reads).ok());
  for (const DiskCompletion& completion : await(*engine, 9)) {
    const bool bad = completion.token == 5 || completion.token == 8;
    EXPECT_EQ(completion.status, bad ? StatusCode::data_loss : StatusCode::ok) << completion.token;
    EXPECT_EQ(completion.error, bad ? EIO : 0);
    EXPECT_TRUE(completion.returned);
  }
  EXPECT_EQ(engine->outstanding(), 0u);
}

TEST_F(DiskTest, ShortReadsGoOnUntilAllIsThere) {
  make_file(64 * kBlock + 77);
  auto engine = open_faulty({.short_rate = 0.8, .again_rate = 0.2});
  for (std::uint64_t round = 0; round < 20; ++round) {
    std::vector<DiskRequest> reads;
    for (std::uint64_t i = 0; i < 16; ++i) reads.push_back(read(i, i * 4 * kBlock, 4 * kBlock));
    // To the end of the file and past it.
    const BlockRange last = engine->files()[0]->cover(60 * kBlock, 4 * kBlock + 77);
    reads.back() = read(15, last.offset, last.bytes);
    ASSERT_TRUE(engine->post(reads).ok());
    for (const DiskCompletion& completion : await(*engine, 16)) {
      const std::string wanted =
          content_.substr(reads[completion.token].offset, reads[completion.token].bytes);
      ASSERT_EQ(completion.status, StatusCode::ok);
      ASSERT_EQ(text(destination(completion.token), completion.bytes), wanted);
    }
  }
}

TEST_F(DiskTest, RetriesEnd) {
  make_file(kBlock);
  auto engine = open_faulty({.again_rate = 1});
  ASSERT_TRUE(engine->post(std::vector{read(0, 0)}).ok());
  const auto found = await(*engine, 1);
  EXPECT_EQ(found[0].status, StatusCode::resource_exhausted);
  EXPECT_EQ(found[0].error, EAGAIN);
}

TEST_F(DiskTest, AFlippedBitIsInsideTheRead) {
  make_file(4 * kBlock);
  auto engine = open_faulty({.flip_rate = 1});
  ASSERT_TRUE(engine->post(std::vector{read(0, 0)}).ok());
  EXPECT_EQ(await(*engine, 1)[0].status, StatusCode::ok);
  std::size_t differing = 0;
  for (std::size_t i = 0; i < kBlock; ++i) {
    differing += static_cast<char>(destination(0)[i]) != content_[i] ? 1 : 0;
  }
  EXPECT_EQ(differing, 1u);
}

TEST_F(DiskTest, AReadThatIsLateEndsTwice) {
  make_file(4 * kBlock);
  auto engine = open_faulty({.drop_rate = 1, .cancels = false});
  DiskRequest late = read(7, 0);
  late.deadline = in_us(1000);
  ASSERT_TRUE(engine->post(std::vector{late}).ok());
  const auto first = await(*engine, 1);
  EXPECT_EQ(first[0].token, 7u);
  EXPECT_EQ(first[0].status, StatusCode::deadline_exceeded);
  EXPECT_FALSE(first[0].returned);
  EXPECT_EQ(engine->outstanding(), 1u);  // in quarantine
  // Others are not held up by it.
  faulty_->set_faults({});
  ASSERT_TRUE(engine->post(std::vector{read(1, 0)}).ok());
  EXPECT_EQ(await(*engine, 1)[0].status, StatusCode::ok);
  EXPECT_EQ(engine->outstanding(), 1u);
  faulty_->release();
  const auto second = await(*engine, 1);
  EXPECT_EQ(second[0].token, 7u);
  EXPECT_EQ(second[0].status, StatusCode::deadline_exceeded);
  EXPECT_TRUE(second[0].returned);
  EXPECT_EQ(engine->outstanding(), 0u);
}

TEST_F(DiskTest, ADeadlineCancelsItsRead) {
  make_file(4 * kBlock);
  auto engine = open_faulty({.drop_rate = 1});
  std::vector<DiskRequest> reads;
  for (std::uint64_t i = 0; i < 16; ++i) {
    reads.push_back(read(i, 0));
    if (i % 2 == 0) reads.back().deadline = 0;  // has passed
  }
  ASSERT_TRUE(engine->post(reads).ok());
  std::size_t returned = 0;
  for (const DiskCompletion& completion : await(*engine, 16)) {
    EXPECT_EQ(completion.token % 2, 0u);
    EXPECT_EQ(completion.status, StatusCode::deadline_exceeded);
    returned += completion.returned ? 1 : 0;
  }
  EXPECT_EQ(returned, 8u);
  EXPECT_EQ(engine->outstanding(), 8u);
}

TEST_F(DiskTest, LateReadsOfARealDiskComeBack) {
  make_file(32 * kBlock);
  auto engine = open();
  for (int round = 0; round < 50; ++round) {
    std::vector<DiskRequest> reads;
    for (std::uint64_t i = 0; i < 16; ++i) {
      reads.push_back(read(i, i * kBlock));
      reads.back().deadline = 0;
    }
    ASSERT_TRUE(engine->post(reads).ok());
    std::vector<int> ends(16);
    std::size_t returned = 0;
    while (returned < 16) {
      for (const DiskCompletion& completion : await(*engine, 1)) {
        ASSERT_LE(++ends[completion.token], 2);
        returned += completion.returned ? 1 : 0;
      }
    }
  }
  EXPECT_EQ(engine->outstanding(), 0u);
}

TEST_F(DiskTest, ManyDeadlinesFitFewCompletions) {
  make_file(kBlock);
  auto engine = open_faulty({.drop_rate = 1, .cancels = false}, 1000);
  std::vector<DiskRequest> reads;
  for (std::uint64_t i = 0; i < 16; ++i) {
    reads.push_back(read(i, 0));
    reads.back().deadline = 0;
  }
  ASSERT_TRUE(engine->post(reads).ok());
  DiskCompletion three[3];
  std::size_t count = 0;
  for (int i = 0; i < 6; ++i) count += engine->poll(three);
  EXPECT_EQ(count, 16u);
}

TEST_F(DiskTest, CloseTakesReadsBackThatNeverComplete) {
  make_file(kBlock);
  auto engine = open_faulty({.drop_rate = 1});
  ASSERT_TRUE(engine->post(std::vector{read(0, 0), read(1, 0)}).ok());
  engine->close();
  EXPECT_EQ(engine->outstanding(), 0u);
}

TEST_F(DiskTest, CloseDoesNotWaitForEver) {
  make_file(kBlock);
  auto engine = open_faulty({.drop_rate = 1, .cancels = false}, 1000);
  ASSERT_TRUE(engine->post(std::vector{read(0, 0)}).ok());
  engine->close();
  EXPECT_TRUE(engine->closed());
  EXPECT_EQ(engine->outstanding(), 1u);
}

}  // namespace
}  // namespace farvec::disk
