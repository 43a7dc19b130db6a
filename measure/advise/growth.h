// Carries what was counted on samples on to what the whole data set will cost.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace farvec::measure {

/// Holds a value that was counted, or measured, on a number of rows.
struct SamplePoint {
  double rows = 0;
  double value = 0;
};

/// Names a law of growth: `logarithm` is a + b ln(rows), `power` is a * rows^b.
enum class GrowthLaw { logarithm, power };

/// Returns "logarithm" or "power".
std::string_view to_string(GrowthLaw law);

/// Returns the value at `rows` by least squares over the points, through the point with most rows,
/// which is nearest to where the law is used. b is never negative (a search does not become
/// cheaper), and at most 1 for `power` (the clusters' own growth). A single point is taken as
/// constant. For `power`, if any point has the value 0, the result is the value of the last point.
/// There must be at least one point; rows > 0.
double extrapolate(std::span<const SamplePoint> points, GrowthLaw law, double rows);

/// Returns the law that comes nearer to what was counted on the most rows when it carries on what
/// was counted on fewer: the one with the smaller sum of relative errors over all series. Series of
/// fewer than three points say nothing; when no series says anything, the result is `power`.
GrowthLaw fitting_law(std::span<const std::vector<SamplePoint>> series);

/// Holds the units of work of one search and the time that it took.
struct WorkTime {
  std::vector<double> work;
  double ns = 0;
};

/// Returns the nanoseconds per unit of each kind of work by least squares of the relative errors.
/// No cost is negative: a kind whose cost would be is given 0 and the others are fitted again. All
/// samples have the same number of kinds and ns > 0. Kinds that the samples do not tell apart may
/// share their time in any way.
std::vector<double> fit_unit_costs(std::span<const WorkTime> samples);

/// Returns the sum of work times cost.
double time_of(std::span<const double> work, std::span<const double> unit_costs);

}  // namespace farvec::measure
