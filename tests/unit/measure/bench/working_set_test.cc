#include "measure/bench/working_set.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/error.h"

namespace farvec::measure {
namespace {

TEST(LineOrder, VisitsEachLineOnce) {
  for (const std::size_t lines : {4096u, 8192u, 1u << 15}) {
    const LineOrder order(lines * kCacheLineBytes);
    ASSERT_EQ(order.count(), lines);
    std::vector<int> visits(lines);
    for (std::size_t place = 0; place < lines; ++place) ++visits.at(order.at(place));
    EXPECT_EQ(visits, std::vector<int>(lines, 1));
    EXPECT_EQ(order.at(lines), order.at(0)) << "the order begins again";
  }
}

TEST(LineOrder, RoundsDownToAPowerOfTwo) {
  EXPECT_EQ(LineOrder(LineOrder::kLeastBytes).count(), 4096u);
  EXPECT_EQ(LineOrder(2 * LineOrder::kLeastBytes - 1).count(), 4096u);
  EXPECT_EQ(LineOrder(3 * LineOrder::kLeastBytes).count(), 8192u);
  EXPECT_THROW(LineOrder(LineOrder::kLeastBytes - 1), Error);
  EXPECT_THROW(LineOrder(0), Error);
}

/// A prefetcher could guess the next line from a distance that comes again and again.
TEST(LineOrder, HasNoStride) {
  const LineOrder order(std::size_t{1} << 22);
  std::vector<int> distances(order.count());
  const std::size_t mask = order.count() - 1;
  for (std::size_t place = 0; place < order.count(); ++place) {
    ++distances[(order.at(place + 1) - order.at(place)) & mask];
  }
  for (const int times : distances) EXPECT_LT(times, static_cast<int>(order.count() / 100));
}

TEST(WorkingSet, IsOneRingOfAllItsLines) {
  for (const Pages pages : {Pages::small, Pages::huge}) {
    const WorkingSet set(std::size_t{1} << 21, pages);
    const std::byte* line = set.line(0);
    std::vector<int> visits(set.order().count());
    for (std::size_t place = 0; place < set.order().count(); ++place) {
      ASSERT_EQ(line, set.line(place));
      ++visits.at(static_cast<std::size_t>(line - set.data()) / kCacheLineBytes);
      line = WorkingSet::next(line);
    }
    EXPECT_EQ(line, set.line(0));
    EXPECT_EQ(visits, std::vector<int>(set.order().count(), 1));
    if (pages == Pages::small) {
      EXPECT_EQ(set.huge_share(), 0);
    }
    EXPECT_LE(set.huge_share(), 1);
  }
}

TEST(Pages, HaveWords) {
  for (const Pages pages : {Pages::small, Pages::huge}) {
    EXPECT_EQ(parse_pages(to_string(pages)), pages);
  }
  EXPECT_THROW(parse_pages("1g"), Error);
}

}  // namespace
}  // namespace farvec::measure
