// Tests of a channel whose processes are killed, each in each state.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "postgres/channel/channel.h"
#include "tests/unit/postgres/channel/channels.h"

namespace farvec::postgres::tests {
namespace {

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

}  // namespace
}  // namespace farvec::postgres::tests
