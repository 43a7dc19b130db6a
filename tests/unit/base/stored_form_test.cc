#include "base/stored_form.h"

#include <gtest/gtest.h>

namespace farvec {
namespace {

TEST(StoredForm, OnlyCosineStoresUnitVectors) {
  EXPECT_TRUE(stores_unit_vectors(Metric::cosine));
  EXPECT_FALSE(stores_unit_vectors(Metric::l2));
  EXPECT_FALSE(stores_unit_vectors(Metric::inner_product));
}

TEST(StoredForm, OnlyCosineChangesTheType) {
  for (const Metric metric : {Metric::l2, Metric::inner_product}) {
    for (const ElementType type :
         {ElementType::f32, ElementType::f16, ElementType::u8, ElementType::i8}) {
      EXPECT_EQ(stored_type(metric, type), type);
    }
  }
  EXPECT_EQ(stored_type(Metric::cosine, ElementType::f32), ElementType::f32);
  EXPECT_EQ(stored_type(Metric::cosine, ElementType::f16), ElementType::f16);
  EXPECT_EQ(stored_type(Metric::cosine, ElementType::u8), ElementType::f16);
  EXPECT_EQ(stored_type(Metric::cosine, ElementType::i8), ElementType::f16);
}

}  // namespace
}  // namespace farvec
