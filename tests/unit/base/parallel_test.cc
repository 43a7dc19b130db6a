#include "base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace farvec {
namespace {

TEST(ParallelFor, VisitsEveryItemOnce) {
  for (const std::size_t count : {0u, 1u, 7u, 1000u}) {
    for (const std::size_t chunk : {0u, 1u, 3u, 5000u}) {
      for (const unsigned threads : {0u, 1u, 4u}) {
        std::vector<int> visits(count);  // each item belongs to one call, so no two threads meet
        parallel_for(count, chunk, threads, [&](std::size_t begin, std::size_t end, unsigned) {
          ASSERT_LE(end, count);
          for (std::size_t i = begin; i < end; ++i) ++visits[i];
        });
        EXPECT_EQ(visits, std::vector<int>(count, 1)) << count << " " << chunk << " " << threads;
      }
    }
  }
}

TEST(ParallelFor, NumbersItsWorkers) {
  std::atomic<unsigned> greatest{0};
  parallel_for(100, 1, 3, [&](std::size_t, std::size_t, unsigned worker) {
    unsigned seen = greatest.load();
    while (worker > seen && !greatest.compare_exchange_weak(seen, worker)) {
    }
  });
  EXPECT_LT(greatest.load(), 3u);
}

TEST(ParallelFor, RethrowsTheFirstExceptionAndStops) {
  std::atomic<std::size_t> calls{0};
  const auto run = [&] {
    parallel_for(1'000'000, 1, 2, [&](std::size_t, std::size_t, unsigned) {
      ++calls;
      throw std::runtime_error("no");
    });
  };
  EXPECT_THROW(run(), std::runtime_error);
  EXPECT_LE(calls.load(), 2u);
}

TEST(ResolveThreads, TakesWhatIsAskedOrAllThereAre) {
  EXPECT_EQ(resolve_threads(3), 3u);
  EXPECT_GE(resolve_threads(0), 1u);
}

}  // namespace
}  // namespace farvec
