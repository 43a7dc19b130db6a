// From what was counted on samples to what the whole data set will cost.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace farvec::measure {

/// What was counted, or measured, on so many rows.
struct SamplePoint {
  double rows = 0;
  double value = 0;
};

/// logarithm: a + b ln(rows). power: a * rows^b.
enum class GrowthLaw { logarithm, power };

/// "logarithm", "power".
std::string_view to_string(GrowthLaw law);

/// The value at `rows` by least squares over the points, through the point with most rows, which is
/// nearest to where the law is used. b is never negative (a search does not become cheaper), and at
/// most 1 for power (the clusters' own growth). One point alone is taken as constant. For power a
/// value of 0 anywhere gives the last point's. At least one point; rows > 0.
double extrapolate(std::span<const SamplePoint> points, GrowthLaw law, double rows);

/// The law that comes nearer to what was counted on the most rows from what was counted on fewer:
/// the less sum of relative errors over all series. Series of fewer than three points say nothing;
/// when none says anything, power.
GrowthLaw fitting_law(std::span<const std::vector<SamplePoint>> series);

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

}  // namespace farvec::measure
