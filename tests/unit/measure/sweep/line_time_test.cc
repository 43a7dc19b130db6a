#include "measure/sweep/line_time.h"

#include <gtest/gtest.h>

#include <string>

namespace farvec::measure {
namespace {

TEST(LineTime, WhatIsGivenIsNotMeasured) {
  LineTime given(7.5, 0);
  given.measure(2);
  EXPECT_EQ(given.ns(1), 7.5);
  EXPECT_EQ(given.ns(2), 7.5);
  EXPECT_EQ(std::string(given.source()), "--line-ns");
}

TEST(LineTime, IsKnownForThreadsThatWereMeasured) {
  LineTime measured(0, 1 << 20);
  EXPECT_EQ(measured.ns(1), 0);
  measured.measure(1);
  const double ns = measured.ns(1);
  EXPECT_GT(ns, 0);
  measured.measure(1);
  EXPECT_EQ(measured.ns(1), ns) << "measured once";
  EXPECT_EQ(measured.ns(2), 0);
  EXPECT_EQ(std::string(measured.source()), "measured");
}

}  // namespace
}  // namespace farvec::measure
