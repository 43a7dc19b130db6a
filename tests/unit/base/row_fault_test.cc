#include "base/row_fault.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace farvec {
namespace {

TEST(FaultyRow, IsTheFirstOfSeveral) {
  const std::vector<float> rows{1, 2, 3e18f, 3e18f, NAN, 0, 1e30f, 0};
  const VectorView view = packed_view(rows.data(), 4, 2, ElementType::f32);
  for (const Metric metric : {Metric::l2, Metric::inner_product, Metric::cosine}) {
    EXPECT_EQ(find_faulty_row(view, metric)->row, 2u);
    EXPECT_EQ(find_faulty_row(view, metric)->fault, RowFault::not_finite);
    EXPECT_FALSE(find_faulty_row(view.part(0, 2), metric));
  }
  EXPECT_EQ(find_faulty_row(view.part(3, 1), Metric::l2)->fault, RowFault::too_long);
  EXPECT_FALSE(find_faulty_row(view.part(3, 1), Metric::cosine));
}

}  // namespace
}  // namespace farvec
