#include "base/status.h"

#include <gtest/gtest.h>

#include <memory>

namespace farvec {
namespace {

TEST(Status, IsOkByDefault) {
  EXPECT_TRUE(Status().ok());
  const Status status(StatusCode::unavailable, "peer is gone");
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.code(), StatusCode::unavailable);
  EXPECT_STREQ(status.message(), "peer is gone");
}

TEST(Status, NamesEveryCode) {
  EXPECT_EQ(to_string(StatusCode::ok), "OK");
  EXPECT_EQ(to_string(StatusCode::cancelled), "CANCELLED");
  EXPECT_EQ(to_string(StatusCode::invalid_argument), "INVALID_ARGUMENT");
  EXPECT_EQ(to_string(StatusCode::deadline_exceeded), "DEADLINE_EXCEEDED");
  EXPECT_EQ(to_string(StatusCode::not_found), "NOT_FOUND");
  EXPECT_EQ(to_string(StatusCode::permission_denied), "PERMISSION_DENIED");
  EXPECT_EQ(to_string(StatusCode::resource_exhausted), "RESOURCE_EXHAUSTED");
  EXPECT_EQ(to_string(StatusCode::failed_precondition), "FAILED_PRECONDITION");
  EXPECT_EQ(to_string(StatusCode::internal), "INTERNAL");
  EXPECT_EQ(to_string(StatusCode::unavailable), "UNAVAILABLE");
  EXPECT_EQ(to_string(StatusCode::data_loss), "DATA_LOSS");
}

TEST(Result, HoldsAValueOrAStatus) {
  const Result<int> value(7);
  EXPECT_TRUE(value.ok());
  EXPECT_TRUE(value.status().ok());
  EXPECT_EQ(value.value(), 7);
  const Result<int> failed(Status(StatusCode::not_found, "no"));
  EXPECT_FALSE(failed.ok());
  EXPECT_EQ(failed.status().code(), StatusCode::not_found);
}

TEST(Result, MovesItsValueOut) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(3));
  EXPECT_EQ(*std::move(result).value(), 3);
}

TEST(ResultDeathTest, RefusesMisuse) {
  EXPECT_DEATH(Result<int>{Status()}, "needs an error");
  const Result<int> failed(Status(StatusCode::internal, "broken disk"));
  EXPECT_DEATH((void)failed.value(), "broken disk");
}

TEST(CheckDeathTest, SaysWhatAndWhere) {
  const int answer = 41;
  EXPECT_DEATH(FARVEC_CHECK(answer == 42, "got {}", answer),
               "CHECK failed at .*status_test.cc:[0-9]+: answer == 42 got 41");
  FARVEC_CHECK(answer == 41);
}

}  // namespace
}  // namespace farvec
