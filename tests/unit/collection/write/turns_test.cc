#include "collection/write/turns.h"

#include <gtest/gtest.h>

#include <memory>

namespace farvec::collection {
namespace {

TEST(Turns, ComeInTheOrderOfThoseWhoTookThem) {
  std::condition_variable next;
  Turns turns(next);
  auto first = std::make_unique<Turn>(turns);
  auto second = std::make_unique<Turn>(turns);
  const Turn third(turns);
  EXPECT_TRUE(first->has_come());
  EXPECT_FALSE(second->has_come());
  second.reset();  // gave up
  EXPECT_FALSE(third.has_come());
  first.reset();
  EXPECT_TRUE(third.has_come());
  const Turn fourth(turns);
  EXPECT_TRUE(third.has_come());
  EXPECT_FALSE(fourth.has_come());
}

}  // namespace
}  // namespace farvec::collection
