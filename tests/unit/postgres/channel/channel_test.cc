// Tests of a channel, with an engine that adds one to each byte.
#include "postgres/channel/channel.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/postgres/channel/channels.h"

namespace farvec::postgres::tests {
namespace {

TEST_F(Channels, AnswersComeToTheProcessesThatAsked) {
  Channel* engine = create(3);
  std::vector<pid_t> children;
  for (int c = 0; c < 3; ++c) {
    children.push_back(in_child([&] {
      Channel* mine = open();
      if (mine == nullptr) return 2;
      const std::uint32_t slot = channel_claim(mine);
      if (slot == CHANNEL_NO_SLOT) return 3;
      for (int i = 0; i < 500; ++i) {
        if (!asks_well(mine, slot, static_cast<std::uint8_t>(i * (c + 1)),
                       static_cast<std::uint32_t>(i % 1000))) {
          return 4;
        }
      }
      channel_release(mine, slot);
      return 0;
    }));
  }
  std::atomic<bool> stop{false};
  std::thread one([&] { serve(engine, stop, nullptr); });
  std::thread other([&] { serve(engine, stop, nullptr); });
  for (const pid_t child : children) EXPECT_EQ(end_of(child), 0);
  stop = true;
  one.join();
  other.join();
  channel_close(engine);
}

TEST_F(Channels, TheLongestRequestAndAnswerFit) {
  Channel* engine = create();
  Channel* mine = open();
  ASSERT_NE(mine, nullptr) << why_.data();
  const std::uint32_t slot = channel_claim(mine);
  std::memset(channel_request(mine, slot), 9, CHANNEL_REQUEST_BYTES);
  const std::uint64_t sequence = channel_ask(mine, slot, kAddOne, CHANNEL_REQUEST_BYTES);
  ChannelTaken taken;
  ASSERT_TRUE(channel_take(engine, 0, &taken));
  EXPECT_EQ(taken.bytes, CHANNEL_REQUEST_BYTES);
  std::vector<std::uint8_t> request(taken.bytes);
  channel_read_request(engine, &taken, request.data());
  EXPECT_EQ(request, std::vector<std::uint8_t>(CHANNEL_REQUEST_BYTES, 9));
  channel_answer(engine, &taken, 5, request.data(), CHANNEL_ANSWER_BYTES);
  EXPECT_EQ(channel_wait(mine, slot, sequence, 1000), kChannelAnswered);
  ChannelAnswer answer;
  Answer bytes;
  channel_read_answer(mine, slot, &answer, bytes.data());
  EXPECT_EQ(answer.status, 5);
  EXPECT_EQ(answer.bytes, CHANNEL_ANSWER_BYTES);
  channel_close(mine);
  channel_close(engine);
}

TEST_F(Channels, WhenAllSlotsAreTakenTheNextProcessHearsIt) {
  Channel* engine = create(2);
  Channel* mine = open();
  const std::uint32_t one = channel_claim(mine);
  const std::uint32_t other = channel_claim(mine);
  EXPECT_NE(one, other);
  EXPECT_EQ(channel_claim(mine), CHANNEL_NO_SLOT);
  channel_release(mine, one);
  EXPECT_EQ(channel_claim(mine), one);
  channel_close(mine);
  channel_close(engine);
}

TEST_F(Channels, ALateAnswerIsNeverThatOfTheNextRequest) {
  Channel* engine = create(1);
  Channel* mine = open();
  const std::uint32_t slot = channel_claim(mine);
  const std::uint64_t first = channel_ask(mine, slot, kHold, 0);
  ChannelTaken taken;
  ASSERT_TRUE(channel_take(engine, 0, &taken));
  EXPECT_FALSE(channel_is_given_up(engine, &taken));
  channel_give_up(mine, slot, first);
  EXPECT_TRUE(channel_is_given_up(engine, &taken));
  // The slot is not used again before the engine has let it go.
  EXPECT_FALSE(channel_is_ready(mine, slot));
  const CallWait short_wait{.deadline_ms = 1, .gives_up = nullptr, .context = nullptr};
  EXPECT_EQ(call_prepare(mine, slot, &short_wait), kCallTooLate);
  channel_answer(engine, &taken, 0, "late", 4);
  EXPECT_TRUE(channel_is_ready(mine, slot));
  const std::uint64_t second = channel_ask(mine, slot, kAddOne, 0);
  EXPECT_EQ(channel_wait(mine, slot, second, 1), kChannelWaits);
  // An engine that answered twice would not be heard.
  channel_answer(engine, &taken, 0, "later", 5);
  EXPECT_EQ(channel_wait(mine, slot, second, 1), kChannelWaits);
  channel_close(mine);
  channel_close(engine);
}

TEST_F(Channels, ARequestThatTheEngineHasNotTakenIsWithdrawn) {
  Channel* engine = create(1);
  Channel* mine = open();
  const std::uint32_t slot = channel_claim(mine);
  const std::uint64_t sequence = channel_ask(mine, slot, kAddOne, 0);
  channel_give_up(mine, slot, sequence);
  EXPECT_TRUE(channel_is_ready(mine, slot));
  ChannelTaken taken;
  EXPECT_FALSE(channel_take(engine, 0, &taken));
  channel_ask(mine, slot, kHold, 3);
  ASSERT_TRUE(channel_take(engine, 0, &taken));
  EXPECT_EQ(taken.operation, kHold);
  EXPECT_FALSE(channel_take(engine, 0, &taken)) << "one request is taken once";
  channel_close(mine);
  channel_close(engine);
}

TEST_F(Channels, ACallerThatGivesUpGoesOnWithItsNextRequest) {
  Channel* engine = create(1);
  std::atomic<bool> stop{false};
  std::vector<ChannelTaken> held;
  std::thread serving([&] { serve(engine, stop, &held); });
  Channel* mine = open();
  const std::uint32_t slot = channel_claim(mine);
  int looks = 0;
  const CallWait gives_up{.deadline_ms = 30'000,
                          .gives_up = [](void* count) { return ++*static_cast<int*>(count) > 2; },
                          .context = &looks};
  Answer answer;
  std::uint32_t bytes;
  EXPECT_EQ(call_ask(mine, slot, kHold, 0, &gives_up, answer.data(), &bytes), kCallGivenUp);
  stop = true;
  channel_wake_all(engine);
  serving.join();
  ASSERT_EQ(held.size(), 1u);
  answer_one(engine, held[0]);
  stop = false;
  std::thread again([&] { serve(engine, stop, nullptr); });
  EXPECT_TRUE(asks_well(mine, slot, 7, 100));
  stop = true;
  again.join();
  channel_close(mine);
  channel_close(engine);
}

TEST_F(Channels, TheFileIsForItsOwnerAlone) {
  Channel* engine = create();
  struct stat found {};
  ASSERT_EQ(stat(path_.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600u);
  EXPECT_GE(static_cast<std::uint64_t>(found.st_blocks) * 512,
            static_cast<std::uint64_t>(found.st_size));
  channel_close(engine);
}

TEST_F(Channels, WhatIsNoSegmentIsRefusedByName) {
  EXPECT_EQ(open(), nullptr);
  EXPECT_NE(std::string(why_.data()).find(path_), std::string::npos) << why_.data();
  std::ofstream(path_) << "something else that is long enough" << std::string(10'000, 'x');
  EXPECT_EQ(open(), nullptr);
  EXPECT_NE(std::string(why_.data()).find("no segment"), std::string::npos) << why_.data();
  EXPECT_EQ(channel_create(path_.c_str(), 4, 1, why_.data()), nullptr) << "the file is there";
  std::filesystem::remove(path_);
  Channel* engine = create();
  EXPECT_EQ(open(kIncarnation + 1), nullptr);
  EXPECT_NE(std::string(why_.data()).find("another start"), std::string::npos) << why_.data();
  std::filesystem::resize_file(path_, 5000);
  EXPECT_EQ(open(), nullptr);
  EXPECT_NE(std::string(why_.data()).find("bytes"), std::string::npos) << why_.data();
  EXPECT_EQ(channel_create(path_.c_str(), 0, 1, why_.data()), nullptr);
  EXPECT_EQ(channel_create(path_.c_str(), CHANNEL_MOST_SLOTS + 1, 1, why_.data()), nullptr);
  channel_close(engine);
}

/// Bytes that nobody should write: lengths that are too great, states that are none.
TEST_F(Channels, TheEngineTrustsNothingInASlot) {
  Channel* engine = create(2);
  Channel* mine = open();
  const std::uint32_t slot = channel_claim(mine);
  channel_ask(mine, slot, kAddOne, 4'000'000'000u);
  ChannelTaken taken;
  ASSERT_TRUE(channel_take(engine, 0, &taken));
  EXPECT_LE(taken.bytes, CHANNEL_REQUEST_BYTES);
  // All of the header's bits, and all of a slot's words.
  std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
  const std::string ones(512, '\xff');
  file.seekp(128);
  file.write(ones.data(), 512);
  file.seekp(4096);
  file.write(ones.data(), 40);
  file.flush();
  ChannelTaken other;
  EXPECT_FALSE(channel_take(engine, 0, &other));
  answer_one(engine, {.slot = slot, .operation = 0, .bytes = 10, .sequence = 1});
  channel_sweep(engine, true);
  channel_close(mine);
  channel_close(engine);
}

}  // namespace
}  // namespace farvec::postgres::tests
