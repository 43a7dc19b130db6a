// Channels is a fixture with a channel in a folder of its own, and processes on both of its sides.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "postgres/channel/call.h"
#include "postgres/channel/channel.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::postgres::tests {

using Answer = std::array<std::uint8_t, CHANNEL_ANSWER_BYTES>;

inline constexpr std::uint64_t kIncarnation = 77;
inline constexpr CallWait kPatient{.deadline_ms = 30'000, .gives_up = nullptr, .context = nullptr};

/// What the engine of these tests answers: each byte plus one.
inline constexpr std::uint32_t kAddOne = 1;
/// A request that the engine never answers by itself.
inline constexpr std::uint32_t kHold = 2;

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

inline void answer_one(Channel* channel, const ChannelTaken& taken) {
  std::vector<std::uint8_t> bytes(taken.bytes);
  channel_read_request(channel, &taken, bytes.data());
  for (std::uint8_t& byte : bytes) ++byte;
  channel_answer(channel, &taken, 0, bytes.data(), static_cast<std::uint32_t>(bytes.size()));
}

/// Serves until `stop` is true; requests of kHold go to `held`.
inline void serve(Channel* channel, const std::atomic<bool>& stop,
                  std::vector<ChannelTaken>* held) {
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
inline bool asks_well(Channel* channel, std::uint32_t slot, std::uint8_t value,
                      std::uint32_t bytes) {
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
inline pid_t in_child(const std::function<int()>& work) {
  const pid_t child = fork();
  if (child == 0) _exit(work());
  return child;
}

inline int end_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

inline void kill_now(pid_t child) {
  kill(child, SIGKILL);
  end_of(child);
}

}  // namespace farvec::postgres::tests
