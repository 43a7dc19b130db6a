#include "base/types.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace farvec {
namespace {

TEST(ElementType, NamesParseBack) {
  for (const auto type : {ElementType::f32, ElementType::f16, ElementType::u8, ElementType::i8}) {
    EXPECT_EQ(parse_element_type(to_string(type)), type);
  }
  EXPECT_THROW((void)parse_element_type("f64"), Error);
  EXPECT_THROW((void)parse_element_type(""), Error);
}

TEST(ElementType, HasItsSize) {
  EXPECT_EQ(element_bytes(ElementType::f32), 4u);
  EXPECT_EQ(element_bytes(ElementType::f16), 2u);
  EXPECT_EQ(element_bytes(ElementType::u8), 1u);
  EXPECT_EQ(element_bytes(ElementType::i8), 1u);
}

TEST(Metric, NamesParseBack) {
  for (const auto metric : {Metric::l2, Metric::inner_product, Metric::cosine}) {
    EXPECT_EQ(parse_metric(to_string(metric)), metric);
  }
  EXPECT_THROW((void)parse_metric("L2"), Error);
}

TEST(VectorView, FindsRows) {
  const std::byte data[12] = {};
  const auto view = packed_view(data, 2, 3, ElementType::f16);
  EXPECT_EQ(view.row_bytes(), 6u);
  EXPECT_EQ(view.row(1), data + 6);
}

}  // namespace
}  // namespace farvec
