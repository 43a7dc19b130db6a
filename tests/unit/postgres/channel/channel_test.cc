// Tests of a channel with processes on both sides, of which each is killed in each state.
#include "postgres/channel/channel.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "postgres/channel/call.h"
#include "tests/unit/temporary_folder.h"

namespace {

using Answer = std::array<std::uint8_t, CHANNEL_ANSWER_BYTES>;

constexpr std::uint64_t kIncarnation = 77;
constexpr CallWait kPatient{.deadline_ms = 30'000, .gives_up = nullptr, .context = nullptr};

/// What the engine of these tests answers: each byte plus one.
constexpr std::uint32_t kAddOne = 1;
/// A request that the engine never answers by itself.
constexpr std::uint32_t kHold = 2;

class Channels : public testing::Test {
 protected:
  Channels() : path_((folder_.path() / "farvec-test").string()) {}

  Channel* create(std::uint32_t slots = 4) {
    Channel* channel = channel_create(path_.c_str(), slots, kIncarnation, why_.data());
    EXPECT_NE(channel, nullptr) << why_.data();
    if (channel != nullptr) channel_set_state(channel, kChannelServing);
    return channel;
  }
  Channel* open(std::uint64_t incarnation = kIncarnation) {
    return channel_open(path_.c_str(), incarnation, why_.data());
  }

  farvec::tests::TemporaryFolder folder_;
  std::string path_;
  std::array<char, CHANNEL_ERROR_BYTES> why_{};
};

void answer_one(Channel* channel, const ChannelTaken& taken) {
  std::vector<std::uint8_t> bytes(taken.bytes);
  channel_read_request(channel, &taken, bytes.data());
  for (std::uint8_t& byte : bytes) ++byte;
  channel_answer(channel, &taken, 0, bytes.data(), static_cast<std::uint32_t>(bytes.size()));
}

/// Serves until `stop` is true; requests of kHold go to `held`.
void serve(Channel* channel, const std::atomic<bool>& stop, std::vector<ChannelTaken>* held) {
  std::uint32_t turn = 0;
  while (!stop) {
    ChannelTaken taken;
    if (!channel_take(channel, turn, &taken)) {
      channel_sleep(channel, 5);
      channel_sweep(channel, true);
      continue;
    }
    turn = taken.slot + 1;
    if (taken.operation == kHold && held != nullptr) {
      held->push_back(taken);
    } else {
      answer_one(channel, taken);
    }
  }
}

/// Asks for bytes of this value, and says whether the right answer came.
bool asks_well(Channel* channel, std::uint32_t slot, std::uint8_t value, std::uint32_t bytes) {
  if (call_prepare(channel, slot, &kPatient) != kCallDone) return false;
  std::memset(channel_request(channel, slot), value, bytes);
  Answer answer;
  std::uint32_t came = 0;
  const std::int32_t status =
      call_ask(channel, slot, kAddOne, bytes, &kPatient, answer.data(), &came);
  if (status != kCallDone || came != bytes) return false;
  for (std::uint32_t i = 0; i < bytes; ++i) {
    if (answer[i] != static_cast<std::uint8_t>(value + 1)) return false;
  }
  return true;
}

/// Runs `work` in a child, which ends with what it returns.
pid_t in_child(const std::function<int()>& work) {
  const pid_t child = fork();
  if (child == 0) _exit(work());
  return child;
}

int end_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void kill_now(pid_t child) {
  kill(child, SIGKILL);
  end_of(child);
}

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

/// A client that is killed in one state: before it asks, while it waits, and when its request is
/// taken. Its slot comes back, and another one uses it.
TEST_F(Channels, TheSlotOfAKilledProcessComesBack) {
  Channel* engine = create(1);
  for (const int state : {0, 1, 2}) {
    SCOPED_TRACE(state);
    int told[2];
    ASSERT_EQ(pipe(told), 0);
    const pid_t child = in_child([&]() -> int {
      Channel* mine = open();
      const std::uint32_t slot = channel_claim(mine);
      if (slot == CHANNEL_NO_SLOT) return 3;
      if (state > 0) channel_ask(mine, slot, kHold, 10);
      if (write(told[1], "x", 1) != 1) return 4;
      for (;;) pause();
    });
    char byte;
    ASSERT_EQ(read(told[0], &byte, 1), 1);
    ChannelTaken taken;
    if (state == 2) {
      ASSERT_TRUE(channel_take(engine, 0, &taken));
    }
    Channel* mine = open();
    EXPECT_EQ(channel_claim(mine), CHANNEL_NO_SLOT);
    kill_now(child);
    channel_sweep(engine, true);
    if (state == 1) {
      ASSERT_TRUE(channel_take(engine, 0, &taken));
    }
    if (state > 0) {
      EXPECT_EQ(channel_claim(mine), CHANNEL_NO_SLOT) << "the engine still has its request";
      answer_one(engine, taken);
    }
    const std::uint32_t slot = channel_claim(mine);
    ASSERT_NE(slot, CHANNEL_NO_SLOT);
    std::atomic<bool> stop{false};
    std::thread serving([&] { serve(engine, stop, nullptr); });
    EXPECT_TRUE(asks_well(mine, slot, 1, 50));
    stop = true;
    serving.join();
    channel_release(mine, slot);
    channel_close(mine);
    close(told[0]);
    close(told[1]);
  }
  channel_close(engine);
}

/// Kills clients at any moment of their loops of requests. Those that stay get right answers.
TEST_F(Channels, ProcessesThatAreKilledAtAnyMomentHarmNobody) {
  Channel* engine = create(2);
  std::atomic<bool> stop{false};
  std::thread serving([&] { serve(engine, stop, nullptr); });
  Channel* mine = open();
  const std::uint32_t slot = channel_claim(mine);
  ASSERT_NE(slot, CHANNEL_NO_SLOT);
  for (int kills = 0; kills < 40; ++kills) {
    const pid_t child = in_child([&]() -> int {
      Channel* theirs = open();
      std::uint32_t their_slot = CHANNEL_NO_SLOT;
      while (their_slot == CHANNEL_NO_SLOT) {
        their_slot = channel_claim(theirs);
        usleep(1000);
      }
      for (std::uint8_t i = 0;; ++i) asks_well(theirs, their_slot, i, 2000);
    });
    for (int i = 0; i < 20 + kills; ++i) {
      ASSERT_TRUE(asks_well(mine, slot, static_cast<std::uint8_t>(i), 300));
    }
    kill_now(child);
  }
  stop = true;
  serving.join();
  channel_close(mine);
  channel_close(engine);
}

TEST_F(Channels, ARequestIsFoundWhoseProcessWasKilledBeforeItSaidSo) {
  Channel* engine = create(1);
  Channel* mine = open();
  const std::uint32_t slot = channel_claim(mine);
  channel_ask(mine, slot, kAddOne, 0);
  // The bit is lost, as it is when a process ends between its two writes.
  std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(128);
  file.write("\0\0\0\0\0\0\0\0", 8);
  file.flush();
  ChannelTaken taken;
  EXPECT_FALSE(channel_take(engine, 0, &taken));
  channel_sweep(engine, false);
  EXPECT_TRUE(channel_take(engine, 0, &taken));
  channel_close(mine);
  channel_close(engine);
}

TEST_F(Channels, AKilledEngineIsNoticedWhileARequestWaits) {
  int told[2];
  ASSERT_EQ(pipe(told), 0);
  const pid_t engine = in_child([&]() -> int {
    Channel* channel = create();
    if (write(told[1], "x", 1) != 1) return 4;
    ChannelTaken taken;
    while (!channel_take(channel, 0, &taken)) channel_sleep(channel, 5);
    if (write(told[1], "y", 1) != 1) return 4;
    for (;;) pause();
  });
  char byte;
  ASSERT_EQ(read(told[0], &byte, 1), 1);
  Channel* mine = open();
  ASSERT_NE(mine, nullptr) << why_.data();
  EXPECT_FALSE(channel_has_ended(mine));
  EXPECT_EQ(channel_engine_pid(mine), static_cast<std::uint32_t>(engine));
  const std::uint32_t slot = channel_claim(mine);
  channel_ask(mine, slot, kAddOne, 1);
  ASSERT_EQ(read(told[0], &byte, 1), 1);
  kill(engine, SIGKILL);
  // It is a zombie until it is waited for, and has ended nevertheless.
  const std::uint64_t sequence = channel_last_sequence(mine, slot);
  ChannelProgress progress = kChannelWaits;
  for (int i = 0; i < 3000 && progress == kChannelWaits; ++i) {
    progress = channel_wait(mine, slot, sequence, 10);
  }
  EXPECT_EQ(progress, kChannelGone);
  EXPECT_EQ(call_prepare(mine, slot, &kPatient), kCallNoEngine);
  end_of(engine);
  channel_close(mine);
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
