#include "attributes/match_cache.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "attributes/condition.h"

namespace farvec::attributes {
namespace {

/// A cache, and how often it had to look.
struct Counted {
  explicit Counted(std::size_t bytes) : cache(bytes) {}

  MatchCache::Rows rows_of(const std::string& text, std::uint32_t step = 7) {
    return cache.rows_of(to_string(*parse_condition(text, layout::parse_schema("i: i64"))), [&] {
      ++looked;
      RowBitmap rows;
      for (std::uint32_t row = 0; row < 7000; row += step) rows.add(row);
      rows.runOptimize();
      return rows;
    });
  }

  MatchCache cache;
  int looked = 0;
};

TEST(MatchCache, LooksOnceForWhatMeansTheSame) {
  Counted counted(1 << 20);
  const auto rows = counted.rows_of("i >= 1 and i <= 3");
  EXPECT_EQ(counted.rows_of("i in (3, 2, 1)"), rows);
  EXPECT_EQ(rows->cardinality(), 1000u);
  EXPECT_EQ(counted.looked, 1);
  counted.rows_of("i = 4");
  EXPECT_EQ(counted.looked, 2);
}

TEST(MatchCache, KeepsTheLastOnesThatWereUsed) {
  Counted counted(1 << 20);
  for (std::size_t i = 0; i < MatchCache::kMostResults; ++i) {
    counted.rows_of("i = " + std::to_string(i));
  }
  counted.rows_of("i = 0");
  counted.rows_of("i = 99");
  counted.looked = 0;
  counted.rows_of("i = 0");
  counted.rows_of("i = 99");
  counted.rows_of("i = 2");
  EXPECT_EQ(counted.looked, 0);
  counted.rows_of("i = 1");
  EXPECT_EQ(counted.looked, 1);
}

TEST(MatchCache, HasAtMostItsBytes) {
  Counted counted(5000);
  const auto first = counted.rows_of("i = 1");
  EXPECT_GT(counted.cache.dram_bytes(), 2000u);
  for (int i = 2; i < 10; ++i) counted.rows_of("i = " + std::to_string(i));
  EXPECT_LE(counted.cache.dram_bytes(), 5000u);
  EXPECT_EQ(first->cardinality(), 1000u);
  counted.rows_of("i = 77", 1);  // one run
  counted.rows_of("i = 78", 2);  // larger than all
  counted.looked = 0;
  counted.rows_of("i = 78", 2);
  EXPECT_EQ(counted.looked, 1);
  counted.rows_of("i = 77", 1);
  EXPECT_EQ(counted.looked, 1);
}

TEST(MatchCache, KeepsNothingOfAFailure) {
  MatchCache cache(1000);
  const auto condition = parse_condition("true", {});
  EXPECT_THROW(
      cache.rows_of(to_string(*condition), []() -> RowBitmap { throw std::runtime_error("no"); }),
      std::runtime_error);
  EXPECT_EQ(cache.dram_bytes(), 0u);
  EXPECT_EQ(cache.rows_of(to_string(*condition), [] { return RowBitmap(); })->cardinality(), 0u);
}

TEST(MatchCache, IsForSeveralThreads) {
  MatchCache cache(4000);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (std::uint32_t i = 0; i < 500; ++i) {
        const std::uint32_t wanted = i % 20;
        const auto condition = parse_condition("id = " + std::to_string(wanted), {});
        const auto rows = cache.rows_of(to_string(*condition), [&] {
          RowBitmap found;
          found.add(wanted);
          return found;
        });
        EXPECT_TRUE(rows->contains(wanted));
        EXPECT_EQ(rows->cardinality(), 1u);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(cache.dram_bytes(), 4000u);
}

}  // namespace
}  // namespace farvec::attributes
