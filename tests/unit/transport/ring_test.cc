#include "transport/ring.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <string>

namespace farvec::transport {
namespace {

/// Any order of pushes and pops, few at first, so that the ring widens when it has gone round.
TEST(Ring, IsAQueueHoweverOftenItWidens) {
  for (const std::size_t capacity : {1u, 2u, 15u, 16u, 17u, 100u, 1024u}) {
    std::mt19937 random(static_cast<unsigned>(capacity));
    Ring<std::string> ring(capacity);
    std::deque<std::string> expected;
    for (int step = 0; step < 20'000; ++step) {
      const auto room = std::min(capacity, 1 + static_cast<std::size_t>(step) / 8);
      if (random() % 2 == 0 && expected.size() < room) {
        expected.push_back(std::to_string(step));
        ring.push(expected.back());
      } else if (!expected.empty()) {
        ASSERT_EQ(ring.front(), expected.front());
        ring.pop();
        expected.pop_front();
      }
      ASSERT_EQ(ring.size(), expected.size());
      ASSERT_EQ(ring.empty(), expected.empty());
    }
  }
}

TEST(Ring, HoldsAsManyAsItWasMadeFor) {
  for (const std::size_t capacity : {1u, 16u, 31u, 32u, 1000u}) {
    Ring<std::size_t> ring(capacity);
    for (std::size_t i = 0; i < 5; ++i) {  // begins elsewhere than in the first place
      ring.push(i);
      ring.pop();
    }
    for (std::size_t i = 0; i < capacity; ++i) ring.push(i);
    for (std::size_t i = 0; i < capacity; ++i, ring.pop()) ASSERT_EQ(ring.front(), i);
    EXPECT_TRUE(ring.empty());
    ring.push(7);
    ring.clear();
    EXPECT_TRUE(ring.empty());
    ring.push(8);
    EXPECT_EQ(ring.front(), 8u);
  }
}

}  // namespace
}  // namespace farvec::transport
