#include "measure/bench/memory_load.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace farvec::measure {
namespace {

constexpr std::size_t kBytes = std::size_t{1} << 20;

TEST(MemoryLoad, EveryChainGoesThroughItsPartOfTheRing) {
  const WorkingSet set(kBytes, Pages::small);
  const std::size_t part = set.order().count() / 4;
  for (const Ask ask : {Ask::load, Ask::first, Ask::second}) {
    std::vector<const std::byte*> chains;
    for (std::size_t i = 0; i < 4; ++i) chains.push_back(set.line(i * part));
    follow(ask, chains, part - 1);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(chains[i], set.line((i + 1) * part - 1));
    follow(ask, chains, 1);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(chains[i], set.line((i + 1) * part));
    follow(ask, chains, 0);
    EXPECT_EQ(chains[3], set.line(0));
  }
}

TEST(MemoryLoad, MeasuresEveryWayOfAsking) {
  const WorkingSet set(kBytes, Pages::huge);
  for (const Ask ask : {Ask::load, Ask::first, Ask::second, Ask::sequential}) {
    for (const std::uint32_t threads : {1u, 3u}) {
      EXPECT_GT(measure_lines(set, {Pages::huge, threads, ask, 7}, 0.01), 0);
    }
    EXPECT_EQ(parse_ask(to_string(ask)), ask);
  }
  EXPECT_THROW(parse_ask("l3"), Error);
}

TEST(MemoryLoad, ByDefaultMoreThanTheCacheAndLessThanTheMemory) {
  EXPECT_LE(default_set_bytes(std::size_t{1} << 50), memory_bytes() / 4);
  EXPECT_EQ(default_set_bytes(0), default_set_bytes(1u << 20));
  EXPECT_GE(default_set_bytes(0), LineOrder::kLeastBytes);
}

}  // namespace
}  // namespace farvec::measure
