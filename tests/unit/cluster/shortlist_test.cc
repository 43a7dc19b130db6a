#include "cluster/shortlist.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/random.h"

namespace farvec::cluster {
namespace {

TEST(Shortlist, KeepsTheLowestOfAll) {
  Random random(1);
  Shortlist list;
  for (const std::uint32_t capacity : {1u, 2u, 7u, 100u, 5000u}) {
    list.reset(capacity);
    std::vector<std::pair<float, std::uint32_t>> all;
    for (std::uint32_t address = 0; address < 3000; ++address) {
      // Estimates may be below zero, and many are equal.
      const float estimate = static_cast<float>(random.below(2000)) - 1000;
      all.emplace_back(estimate, address);
      if (estimate < list.bound()) list.offer(estimate, address);
    }
    const auto kept = list.take();
    ASSERT_EQ(kept.size(), std::min<std::size_t>(capacity, all.size()));
    std::vector<float> found;
    for (const std::uint32_t address : kept) found.push_back(all[address].first);
    std::sort(found.begin(), found.end());
    std::sort(all.begin(), all.end());
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], all[i].first);
  }
}

TEST(Shortlist, OfNothingIsEmpty) {
  Shortlist list;
  list.reset(3);
  EXPECT_TRUE(list.take().empty());
  list.offer(1, 9);
  EXPECT_EQ(list.take().size(), 1u);
  list.reset(3);
  EXPECT_TRUE(list.take().empty()) << "forgets the search before";
}

}  // namespace
}  // namespace farvec::cluster
