#include "dataset/recall.h"

#include <gmock/gmock.h>

#include "tests/unit/dataset/test_files.h"

namespace farvec::dataset {
namespace {

using ::testing::HasSubstr;

ResultRows rows_of(const GroundTruth& results) {
  return {results.ids.data(), results.distances.data(), results.queries, results.k};
}

TEST(Recall, OfTheTruthItselfIsOne) {
  const GroundTruth truth{2, 2, {1, 2, 3, 4}, {0, 1, 0, 1}};
  EXPECT_EQ(recall_at_k(rows_of(truth), truth, 2), 1.0);
  EXPECT_EQ(recall_at_k(rows_of(truth), truth, 1), 1.0);
}

TEST(Recall, CountsTies) {
  const GroundTruth truth{1, 2, {1, 2}, {5, 9}};
  EXPECT_EQ(recall_at_k(rows_of({1, 2, {1, 7}, {5, 9}}), truth, 2), 1.0);
  EXPECT_EQ(recall_at_k(rows_of({1, 2, {1, 7}, {5, 9.000004f}}), truth, 2), 1.0);
  EXPECT_EQ(recall_at_k(rows_of({1, 2, {1, 7}, {5, 10}}), truth, 2), 0.5);
}

TEST(Recall, TieOfNegativeDistances) {
  const GroundTruth truth{1, 1, {1}, {-100}};
  EXPECT_EQ(recall_at_k(rows_of({1, 1, {7}, {-99.99995f}}), truth, 1), 1.0);
  EXPECT_EQ(recall_at_k(rows_of({1, 1, {7}, {-99}}), truth, 1), 0.0);
}

TEST(Recall, CountsTrueIdWhateverItsRoundedDistance) {
  const GroundTruth truth{1, 1, {1}, {5}};
  EXPECT_EQ(recall_at_k(rows_of({1, 1, {1}, {5.01f}}), truth, 1), 1.0);
}

TEST(Recall, CountsAnIdOnceAndEmptyCellsNever) {
  const GroundTruth truth{1, 3, {1, 2, 3}, {1, 1, 1}};
  EXPECT_DOUBLE_EQ(recall_at_k(rows_of({1, 3, {1, 1, kInvalidNode}, {1, 1, 0}}), truth, 3),
                   1.0 / 3);
}

TEST(Recall, WithoutDistancesComparesIds) {
  const GroundTruth truth{1, 2, {1, 2}, {}};
  EXPECT_EQ(recall_at_k(rows_of({1, 2, {2, 9}, {0, 0}}), truth, 2), 0.5);
}

TEST(Recall, OfARangeOfQueries) {
  const GroundTruth truth{3, 1, {1, 2, 3}, {1, 1, 1}};
  EXPECT_EQ(recall_at_k(rows_of({1, 1, {3}, {1}}), truth, 1, 2), 1.0);
  EXPECT_THAT(message_of([&] {
                (void)recall_at_k(rows_of({1, 1, {3}, {1}}), truth, 1, 3);
              }),
              HasSubstr("ground truth has 3"));
}

TEST(Recall, RefusesMoreThanThereIs) {
  const GroundTruth truth{1, 1, {1}, {1}};
  EXPECT_THAT(message_of([&] { (void)recall_at_k(rows_of(truth), truth, 2); }),
              HasSubstr("recall at 2"));
  EXPECT_THAT(message_of([&] { (void)recall_at_k(rows_of(truth), truth, 0); }),
              HasSubstr("recall at 0"));
}

}  // namespace
}  // namespace farvec::dataset
