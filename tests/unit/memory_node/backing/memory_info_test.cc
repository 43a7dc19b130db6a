#include "memory_node/backing/memory_info.h"

#include <gtest/gtest.h>

#include <sstream>
#include <vector>

#include "base/error.h"

namespace farvec::memory_node {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

MemoryInfo parse(const std::string& text) {
  std::istringstream meminfo(text);
  return parse_memory_info(meminfo);
}

TEST(MemoryInfo, ReadsTheKernelsText) {
  const MemoryInfo memory = parse(
      "MemTotal:       16384000 kB\n"
      "MemFree:         1024000 kB\n"
      "MemAvailable:    2048000 kB\n"
      "AnonHugePages:    409600 kB\n"
      "HugePages_Total:     600\n"
      "HugePages_Free:      500\n"
      "HugePages_Rsvd:      100\n"
      "HugePages_Surp:        0\n"
      "Hugepagesize:       2048 kB\n"
      "Hugetlb:         1228800 kB\n");
  EXPECT_EQ(memory.available_bytes, 2048000u * 1024);
  EXPECT_EQ(memory.huge_bytes, 400 * 2 * kMiB);
}

TEST(MemoryInfo, WhatIsMissingLimitsAndAddsNothing) {
  const char* more_promised = "HugePages_Free: 5\nHugePages_Rsvd: 9\nHugepagesize: 2048 kB\n";
  const char* gigabyte_pages = "HugePages_Free: 5\nHugepagesize: 1048576 kB\n";
  for (const char* text : {"", "no colon\n", ":\n", more_promised, gigabyte_pages}) {
    const MemoryInfo memory = parse(text);
    EXPECT_EQ(memory.available_bytes, MemoryInfo().available_bytes) << text;
    EXPECT_EQ(memory.huge_bytes, 0u) << text;
  }
  EXPECT_GT(memory_info().available_bytes, 0u);
}

TEST(MemoryInfo, ARegionTakesHugePagesAsAWholeOrNotAtAll) {
  const MemoryInfo memory{.available_bytes = 10 * kMiB, .huge_bytes = 8 * kMiB};
  const std::vector<std::uint64_t> regions{9 * kMiB, 5 * kMiB, 3 * kMiB, 1};
  // The first is too large for the pool, the second takes 6 MiB of it, the last what is left.
  EXPECT_EQ(available_bytes(memory, BackingKind::dram, regions), 15 * kMiB + 1);
  EXPECT_EQ(available_bytes(memory, BackingKind::shm, regions), 10 * kMiB);
  EXPECT_EQ(available_bytes(memory, BackingKind::dram, {}), 10 * kMiB);
}

TEST(MemoryInfo, MemoryIsCheckedFirst) {
  require_memory(10, 10);
  EXPECT_THROW(require_memory(11, 10), Error);
}

}  // namespace
}  // namespace farvec::memory_node
