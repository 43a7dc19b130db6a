#include "measure/advise/sample.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

namespace farvec::measure {
namespace {

/// Rows of one element each: first, first + 1, ...
class Numbers {
 public:
  Numbers(std::size_t count, std::uint8_t first) : values_(count) {
    std::iota(values_.begin(), values_.end(), first);
  }
  VectorView view() const {
    return packed_view(values_.data(), values_.size(), 1, ElementType::u8);
  }

 private:
  std::vector<std::uint8_t> values_;
};

std::vector<int> values_of(const dataset::VectorSet& set) {
  std::vector<int> values;
  for (std::size_t i = 0; i < set.count(); ++i) {
    values.push_back(std::to_integer<int>(*set.view().row(i)));
  }
  return values;
}

TEST(TopUp, TakesAllOfTheFirstAndRowsEquallyFarApart) {
  const Numbers first(3, 0);
  const Numbers more(10, 100);
  EXPECT_EQ(values_of(top_up(first.view(), more.view(), 8)),
            (std::vector<int>{0, 1, 2, 100, 102, 104, 106, 108}));
  EXPECT_EQ(values_of(top_up(first.view(), more.view(), 100)).size(), 13u);
  EXPECT_EQ(values_of(top_up(first.view(), more.view(), 3)), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(values_of(top_up(first.view(), more.view(), 1)), (std::vector<int>{0, 1, 2}));
}

TEST(TopUp, HoldsForRowsThatAreNotPacked) {
  const Numbers first(6, 0);
  const Numbers more(4, 100);
  EXPECT_EQ(values_of(top_up(thin_out(first.view(), 2), more.view(), 4)),
            (std::vector<int>{0, 3, 100, 102}));
}

}  // namespace
}  // namespace farvec::measure
