#include "compute_node/collection/call_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>

namespace farvec::compute_node {
namespace {

TEST(CallPool, BoundsCallsAndBytesAndRunsWhatItTook) {
  std::latch gate(1);
  std::atomic<int> ran{0};
  const auto call = [&]() -> CallPool::Answer {
    gate.wait();
    ++ran;
    return [] {};
  };
  {
    CallPool pool({.threads = 2, .calls = 3, .bytes = 100});
    EXPECT_TRUE(pool.submit(60, call));
    EXPECT_FALSE(pool.submit(41, call)) << "too many bytes";
    EXPECT_TRUE(pool.submit(40, call));
    EXPECT_TRUE(pool.submit(0, call));
    EXPECT_FALSE(pool.submit(0, call)) << "too many calls";
    EXPECT_EQ(pool.calls(), 3u);
    EXPECT_EQ(pool.bytes(), 100u);
    gate.count_down();
  }
  EXPECT_EQ(ran, 3);
}

TEST(CallPool, HasRoomAgainBehindACall) {
  CallPool pool({.threads = 1, .calls = 1, .bytes = 10});
  std::atomic<int> ran{0};
  for (int i = 0; i < 50;) {
    const auto call = [&]() -> CallPool::Answer {
      ++ran;
      return [] {};
    };
    if (pool.submit(10, call)) ++i;
  }
  while (pool.calls() > 0) {
  }
  EXPECT_EQ(ran, 50);
  EXPECT_EQ(pool.bytes(), 0u);
}

/// Who has its answer may ask again at once.
TEST(CallPool, APlaceIsFreeBeforeTheAnswerGoesOut) {
  CallPool pool({.threads = 2, .calls = 1, .bytes = 10});
  std::atomic<int> answered{0};
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(pool.submit(10, [&]() -> CallPool::Answer {
      return [&] {
        EXPECT_EQ(pool.calls(), 0u);
        EXPECT_EQ(pool.bytes(), 0u);
        ++answered;
      };
    })) << i;
    while (answered == i) std::this_thread::yield();
  }
  EXPECT_EQ(answered, 200);
}

}  // namespace
}  // namespace farvec::compute_node
