// From what was counted on samples to what the whole data set will cost.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace farvec::cli {

/// What was counted, or measured, on so many rows.
struct SamplePoint {
  double rows = 0;
  double value = 0;
};

/// logarithm: a + b ln(rows), the hops of a graph at equal recall. power: a * rows^b, the clusters
/// that have to be probed when their size stays the same.
enum class GrowthLaw { logarithm, power };

/// The value at `rows` by least squares over the points, through the point with most rows, which is
/// nearest to where the law is used. b is never negative (a search does not become cheaper), and at
/// most 1 for power (the clusters' own growth). One point alone is taken as constant. For power a
/// value of 0 anywhere gives the last point's. At least one point; rows > 0.
double extrapolate(std::span<const SamplePoint> points, GrowthLaw law, double rows);

/// One search's units of work and the time it took.
struct WorkTime {
  std::vector<double> work;
  double ns = 0;
};

/// Nanoseconds per unit of each kind of work: least squares of the relative errors, none negative;
/// a kind that would be is given 0 and the others are fitted again. All samples have equally many
/// kinds and ns > 0. Kinds that the samples do not tell apart may share their time in any way.
std::vector<double> fit_unit_costs(std::span<const WorkTime> samples);

/// The sum of work times cost.
double time_of(std::span<const double> work, std::span<const double> unit_costs);

}  // namespace farvec::cli
