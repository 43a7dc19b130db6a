#include "measure/ticker.h"

#include <gtest/gtest.h>

#include <atomic>

namespace farvec::measure {
namespace {

TEST(Ticker, LooksAgainAndAgainUntilItEnds) {
  std::atomic<int> looks = 0;  // seq_cst: no hot path
  {
    const Ticker ticker([&] {
      ++looks;
      looks.notify_all();
    });
    for (int seen = 0; seen < 2; seen = looks) looks.wait(seen);
  }
  EXPECT_GE(looks, 2);
}

}  // namespace
}  // namespace farvec::measure
