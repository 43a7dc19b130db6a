#include "ssd_baseline/slotted/pool/read_buffers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>

namespace farvec::slotted {
namespace {

TEST(ReadBuffers, AreEachOneReadsAtATime) {
  ReadBuffers buffers(3, 4096);
  EXPECT_EQ(buffers.dram_bytes(), 3 * 4096u);
  EXPECT_EQ(buffers.memory().size(), 3 * 4096u);
  std::set<std::byte*> taken;
  for (std::size_t left = 3; left > 0; --left) {
    EXPECT_EQ(buffers.unused(), left);
    std::byte* const buffer = buffers.take();
    EXPECT_EQ((buffer - buffers.memory().data()) % 4096, 0);
    EXPECT_LT(buffer - buffers.memory().data(), 3 * 4096);
    taken.insert(buffer);
  }
  EXPECT_EQ(taken.size(), 3u);
  EXPECT_EQ(buffers.unused(), 0u);
  std::byte* const one = *taken.begin();
  buffers.give_back(one);
  EXPECT_EQ(buffers.unused(), 1u);
  EXPECT_EQ(buffers.take(), one);
}

TEST(ReadBuffers, AbandonedOnesAreNotTakenAgainAndStayValid) {
  ReadBuffers buffers(2, 4096);
  std::byte* const early = buffers.take();
  std::byte* const late = buffers.take();
  buffers.give_back(early);
  buffers.abandon();
  EXPECT_EQ(buffers.unused(), 2u);
  buffers.give_back(late);  // before the memory is renewed
  std::set<std::byte*> fresh{buffers.take(), buffers.take()};
  EXPECT_EQ(buffers.unused(), 0u);
  EXPECT_EQ(fresh.size(), 2u);
  EXPECT_FALSE(fresh.contains(early));
  EXPECT_FALSE(fresh.contains(late));
  std::memset(early, 1, 4096);  // as the kernel would
  for (const std::byte* buffer : fresh) EXPECT_EQ(*buffer, std::byte{0});
  buffers.give_back(early);
  EXPECT_EQ(buffers.unused(), 0u);
  buffers.give_back(*fresh.begin());
  EXPECT_EQ(buffers.unused(), 1u);
}

TEST(CoreBuffers, AreTheSameForAllIndexesOfACore) {
  CoreBuffers cores;
  int one = 0;
  int other = 0;
  std::shared_ptr<ReadBuffers> pages = cores.of(&one, 4, 4096);
  EXPECT_EQ(cores.of(&one, 4, 4096), pages);
  EXPECT_NE(cores.of(&other, 4, 4096), pages);
  EXPECT_NE(cores.of(&one, 4, 8192), pages) << "those of vectors have another size";
  const std::weak_ptr<ReadBuffers> gone = pages;
  pages.reset();
  EXPECT_TRUE(gone.expired()) << "no index uses them";
  EXPECT_EQ(cores.of(&one, 2, 4096)->unused(), 2u);
}

}  // namespace
}  // namespace farvec::slotted
