#include "indexing/order/insertion_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "base/error.h"
#include "indexing/order/order_file.h"
#include "tests/unit/indexing/order/order_fixture.h"
#include "tests/unit/message_of.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::indexing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::is_permutation_of_rows;
using testing::OrderRows;
using testing::sheared_rows;
using tests::message_of;
using tests::TemporaryFolder;

constexpr const char* kWords[] = {"none", "first",  "centroid",  "random",
                                  "pca",  "kmeans", "pca+kmeans"};

OrderOptions options_of(std::string_view word, unsigned threads = 2) {
  OrderOptions options = parse_order(word);
  options.threads = threads;
  options.chunk_rows = 50;
  options.clusters = 4;
  return options;
}

TEST(OrderRows, IsAPermutationForEveryKindTypeAndThreads) {
  for (const auto type : {ElementType::f32, ElementType::f16, ElementType::u8, ElementType::i8}) {
    const OrderRows rows = sheared_rows(333, 5, type);
    for (const char* word : kWords) {
      const auto order = order_rows(rows.view(), options_of(word, 1)).rows;
      EXPECT_TRUE(is_permutation_of_rows(order, 333)) << word;
      EXPECT_EQ(order_rows(rows.view(), options_of(word, 3)).rows, order) << word;
    }
  }
}

TEST(OrderRows, TakesNoneOneAndEqualRowsAndOneDimension) {
  for (const char* word : kWords) {
    for (const std::size_t count : {0u, 1u, 2u, 70u}) {
      const OrderRows equal(std::vector<float>(count * 3, -1.5f), 3);
      EXPECT_TRUE(is_permutation_of_rows(order_rows(equal.view(), options_of(word)).rows, count))
          << word << " " << count;
    }
    const OrderRows line = sheared_rows(70, 1);
    EXPECT_TRUE(is_permutation_of_rows(order_rows(line.view(), options_of(word)).rows, 70)) << word;
  }
}

TEST(OrderRows, KeepsEqualRowsInTheirOrder) {
  const OrderRows rows(std::vector<float>(60, 4.0f), 3);
  const auto none = order_rows(rows.view(), options_of("none")).rows;
  for (const char* word : {"first", "centroid", "random", "pca"}) {
    EXPECT_EQ(order_rows(rows.view(), options_of(word)).rows, none) << word;
  }
}

TEST(OrderRows, AscendsByTheFirstElementAndByTheDistanceFromTheMean) {
  const OrderRows rows({5, 0, 1, 0, 4, 0, 2, 0}, 2);  // the mean is 3, 0
  EXPECT_THAT(order_rows(rows.view(), options_of("first")).rows, ElementsAre(1, 3, 2, 0));
  EXPECT_THAT(order_rows(rows.view(), options_of("centroid")).rows, ElementsAre(2, 3, 0, 1));
  EXPECT_THAT(order_rows(rows.view(), options_of("none")).rows, ElementsAre(0, 1, 2, 3));
}

TEST(OrderRows, OfPcaGoesAlongTheLineOnWhichRowsLie) {
  const OrderRows rows({3, 30, 1, 10, 4, 40, 2, 20}, 2);
  EXPECT_THAT(order_rows(rows.view(), options_of("pca")).rows, ElementsAre(1, 3, 0, 2));
}

TEST(OrderRows, RefusesWhatIsNotFinite) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
    std::vector<float> values(30, 1.0f);
    values[17] = bad;
    for (const auto type : {ElementType::f32, ElementType::f16}) {
      const OrderRows rows(values, 3, type);
      for (const char* word : kWords) {
        EXPECT_THAT(message_of([&] { order_rows(rows.view(), options_of(word)); }),
                    HasSubstr("row 5 holds NaN or infinity"));
      }
    }
  }
}

TEST(OrderRows, TakesRowsThatOverflow) {
  std::vector<float> values(40, 3e38f);
  for (std::size_t i = 0; i < 20; ++i) values[2 * i] = -3e38f;
  const OrderRows rows(values, 4);
  for (const char* word : kWords) {
    EXPECT_TRUE(is_permutation_of_rows(order_rows(rows.view(), options_of(word)).rows, 10)) << word;
  }
}

TEST(OrderRows, TakesAFile) {
  const TemporaryFolder folder;
  const std::string path = folder.file("order.ibin");
  write_order(path, std::vector<NodeId>{1, 2, 0});
  const OrderRows rows = sheared_rows(3, 2);
  const OrderOptions options = parse_order("file:" + path);
  EXPECT_THAT(order_rows(rows.view(), options).rows, ElementsAre(1, 2, 0));
  EXPECT_THROW(order_rows(sheared_rows(4, 2).view(), options), Error);
}

TEST(ParseOrder, ReadsWhatToStringWrites) {
  for (const char* word : kWords) EXPECT_EQ(to_string(parse_order(word)), word);
  EXPECT_EQ(to_string(parse_order("file:/a b/c.ibin")), "file:/a b/c.ibin");
}

TEST(ParseOrder, RefusesOtherWords) {
  for (const char* word : {"", "PCA", "file", "file:", "spectral"}) {
    EXPECT_THAT(message_of([&] { parse_order(word); }), HasSubstr("use none, first, centroid"));
  }
}

}  // namespace
}  // namespace farvec::indexing
