#include "measure/advise/growth.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace farvec::measure {
namespace {

using Points = std::vector<SamplePoint>;

TEST(Extrapolate, FollowsALogarithm) {
  const auto hops = [](double rows) { return 5 + 3 * std::log(rows); };
  const Points points{{25e3, hops(25e3)}, {100e3, hops(100e3)}};
  EXPECT_NEAR(extrapolate(points, GrowthLaw::logarithm, 1e9), hops(1e9), 1e-9);
}

TEST(Extrapolate, FollowsAPower) {
  const auto probes = [](double rows) { return 0.2 * std::pow(rows, 0.4); };
  const Points points{{25e3, probes(25e3)}, {50e3, probes(50e3)}, {100e3, probes(100e3)}};
  EXPECT_NEAR(extrapolate(points, GrowthLaw::power, 1e7), probes(1e7), 1e-9);
}

TEST(Extrapolate, ReturnsTheLargestSampleAtItsOwnSize) {
  const Points points{{100e3, 40}, {25e3, 33}};
  for (const GrowthLaw law : {GrowthLaw::logarithm, GrowthLaw::power}) {
    EXPECT_DOUBLE_EQ(extrapolate(points, law, 100e3), 40);
  }
}

TEST(Extrapolate, NeverFallsWithMoreRows) {
  const Points noise{{25e3, 41}, {100e3, 40}};
  const Points growing{{25e3, 30}, {100e3, 40}};
  for (const GrowthLaw law : {GrowthLaw::logarithm, GrowthLaw::power}) {
    EXPECT_DOUBLE_EQ(extrapolate(noise, law, 1e9), 40);
    double before = 0;
    for (double rows = 100e3; rows < 1e10; rows *= 10) {
      const double value = extrapolate(growing, law, rows);
      EXPECT_GE(value, before);
      before = value;
    }
  }
}

TEST(Extrapolate, APowerGrowsNoFasterThanTheRows) {
  const Points steep{{25e3, 1}, {100e3, 40}};
  EXPECT_NEAR(extrapolate(steep, GrowthLaw::power, 1e6), 400, 1e-9);
}

TEST(Extrapolate, OnePointOrAZeroStaysAsItIs) {
  const Points one{{100e3, 40}};
  const Points zero{{25e3, 0}, {100e3, 4}};
  EXPECT_DOUBLE_EQ(extrapolate(one, GrowthLaw::logarithm, 1e9), 40);
  EXPECT_DOUBLE_EQ(extrapolate(one, GrowthLaw::power, 1e9), 40);
  EXPECT_DOUBLE_EQ(extrapolate(zero, GrowthLaw::power, 1e9), 4);
}

TEST(FittingLaw, IsTheOneThatTheSeriesFollow) {
  const auto logarithm = [](double rows) { return 5 + 3 * std::log(rows); };
  const auto power = [](double rows) { return 0.9 * std::pow(rows, 0.25); };
  Points slow, fast;
  for (const double rows : {15e3, 60e3, 240e3}) {
    slow.push_back({rows, logarithm(rows)});
    fast.push_back({rows, power(rows)});
  }
  const Points pair{{15e3, 1}, {60e3, 2}};
  const Points zero{{15e3, 0}, {60e3, 0}, {240e3, 0}};
  EXPECT_EQ(fitting_law(std::vector<Points>{slow, pair, zero}), GrowthLaw::logarithm);
  EXPECT_EQ(fitting_law(std::vector<Points>{zero, fast, pair}), GrowthLaw::power);
  EXPECT_EQ(fitting_law(std::vector<Points>{pair, zero}), GrowthLaw::power);
  EXPECT_EQ(fitting_law({}), GrowthLaw::power);
}

TEST(UnitCosts, AreFoundAgain) {
  const std::vector<double> costs{90, 12.5};
  std::vector<WorkTime> samples;
  for (const auto& work : {std::vector<double>{30, 700}, {60, 1100}, {45, 1500}}) {
    samples.push_back({work, time_of(work, costs)});
  }
  const std::vector<double> fitted = fit_unit_costs(samples);
  EXPECT_NEAR(fitted[0], 90, 1e-6);
  EXPECT_NEAR(fitted[1], 12.5, 1e-6);
}

TEST(UnitCosts, AreNeverNegative) {
  // The second kind seems to save time.
  const std::vector<WorkTime> samples{{{10, 1}, 1000}, {{10, 2}, 950}, {{20, 4}, 1900}};
  const std::vector<double> fitted = fit_unit_costs(samples);
  EXPECT_GT(fitted[0], 0);
  EXPECT_EQ(fitted[1], 0);
}

TEST(UnitCosts, KindsThatGoTogetherStillAddUp) {
  const std::vector<WorkTime> samples{{{1, 10, 0}, 100}, {{2, 20, 0}, 200}, {{3, 30, 0}, 300}};
  const std::vector<double> fitted = fit_unit_costs(samples);
  for (const WorkTime& sample : samples) {
    EXPECT_NEAR(time_of(sample.work, fitted), sample.ns, 1e-6);
  }
}

TEST(UnitCosts, OneSampleGivesItsOwnTime) {
  const std::vector<WorkTime> samples{{{3, 5}, 700}};
  EXPECT_NEAR(time_of(samples[0].work, fit_unit_costs(samples)), 700, 1e-6);
}

}  // namespace
}  // namespace farvec::measure
