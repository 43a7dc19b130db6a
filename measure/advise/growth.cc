#include "measure/advise/growth.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/check.h"

namespace farvec::measure {
namespace {

/// Returns b of y - y_last = b * (x - x_last).
double slope_through(std::span<const SamplePoint> points, const SamplePoint& last,
                     double (*of)(double)) {
  double products = 0;
  double squares = 0;
  for (const SamplePoint& point : points) {
    const double x = std::log(point.rows / last.rows);
    products += x * (of(point.value) - of(last.value));
    squares += x * x;
  }
  return squares > 0 ? products / squares : 0;
}

const SamplePoint& most_rows(std::span<const SamplePoint> points) {
  FARVEC_CHECK(!points.empty());
  return *std::max_element(points.begin(), points.end(),
                           [](const auto& a, const auto& b) { return a.rows < b.rows; });
}

/// Returns the relative error at the point with most rows when the law carries on the others.
double error_at_last(const std::vector<SamplePoint>& points, GrowthLaw law) {
  const SamplePoint last = most_rows(points);
  std::vector<SamplePoint> earlier;
  for (const SamplePoint& point : points) {
    if (point.rows < last.rows) earlier.push_back(point);
  }
  return std::abs(extrapolate(earlier, law, last.rows) / last.value - 1);
}

/// Solves a * x = b in place by Gaussian elimination; columns without a pivot get 0.
std::vector<double> solve(std::vector<std::vector<double>> a, std::vector<double> b) {
  const std::size_t n = b.size();
  constexpr double kNothing = 1e-12;
  std::vector<double> x(n, 0);
  for (std::size_t column = 0; column < n; ++column) {
    std::size_t pivot = column;
    for (std::size_t row = column; row < n; ++row) {
      if (std::abs(a[row][column]) > std::abs(a[pivot][column])) pivot = row;
    }
    std::swap(a[pivot], a[column]);
    std::swap(b[pivot], b[column]);
    if (std::abs(a[column][column]) < kNothing) {
      std::fill(a[column].begin(), a[column].end(), 0.0);
      a[column][column] = 1;
      b[column] = 0;
    }
    for (std::size_t row = column + 1; row < n; ++row) {
      const double factor = a[row][column] / a[column][column];
      for (std::size_t i = column; i < n; ++i) a[row][i] -= factor * a[column][i];
      b[row] -= factor * b[column];
    }
  }
  for (std::size_t row = n; row-- > 0;) {
    double rest = b[row];
    for (std::size_t i = row + 1; i < n; ++i) rest -= a[row][i] * x[i];
    x[row] = rest / a[row][row];
  }
  return x;
}

/// Fits unit costs for the kinds in `used` only.
std::vector<double> fit(std::span<const WorkTime> samples, std::span<const std::size_t> used) {
  const std::size_t n = used.size();
  std::vector<std::vector<double>> squares(n, std::vector<double>(n, 0));
  std::vector<double> products(n, 0);
  std::vector<double> scale(n, 0);  // so that pivots of all kinds are comparable
  for (std::size_t i = 0; i < n; ++i) {
    for (const WorkTime& sample : samples) {
      scale[i] = std::max(scale[i], sample.work[used[i]] / sample.ns);
    }
    if (scale[i] == 0) scale[i] = 1;
  }
  for (const WorkTime& sample : samples) {
    for (std::size_t i = 0; i < n; ++i) {
      const double left = sample.work[used[i]] / sample.ns / scale[i];
      products[i] += left;
      for (std::size_t j = 0; j < n; ++j) {
        squares[i][j] += left * sample.work[used[j]] / sample.ns / scale[j];
      }
    }
  }
  std::vector<double> costs = solve(std::move(squares), std::move(products));
  for (std::size_t i = 0; i < n; ++i) costs[i] /= scale[i];
  return costs;
}

}  // namespace

double extrapolate(std::span<const SamplePoint> points, GrowthLaw law, double rows) {
  const SamplePoint& last = most_rows(points);
  const double distance = std::log(rows / last.rows);
  if (law == GrowthLaw::logarithm) {
    const double slope = slope_through(points, last, [](double value) { return value; });
    return last.value + std::max(slope, 0.0) * distance;
  }
  for (const SamplePoint& point : points) {
    if (!(point.value > 0)) return last.value;
  }
  const double slope = slope_through(points, last, [](double value) { return std::log(value); });
  return last.value * std::exp(std::clamp(slope, 0.0, 1.0) * distance);
}

std::string_view to_string(GrowthLaw law) {
  return law == GrowthLaw::logarithm ? "logarithm" : "power";
}

GrowthLaw fitting_law(std::span<const std::vector<SamplePoint>> series) {
  double logarithm = 0;
  double power = 0;
  for (const std::vector<SamplePoint>& points : series) {
    if (points.size() < 3 || !(most_rows(points).value > 0)) continue;
    logarithm += error_at_last(points, GrowthLaw::logarithm);
    power += error_at_last(points, GrowthLaw::power);
  }
  return logarithm < power ? GrowthLaw::logarithm : GrowthLaw::power;
}

std::vector<double> fit_unit_costs(std::span<const WorkTime> samples) {
  FARVEC_CHECK(!samples.empty());
  const std::size_t kinds = samples.front().work.size();
  std::vector<std::size_t> used(kinds);
  std::iota(used.begin(), used.end(), std::size_t{0});
  std::vector<double> costs(kinds, 0);
  while (!used.empty()) {
    const std::vector<double> fitted = fit(samples, used);
    const auto least = std::min_element(fitted.begin(), fitted.end());
    if (*least >= 0) {
      for (std::size_t i = 0; i < used.size(); ++i) costs[used[i]] = fitted[i];
      break;
    }
    used.erase(used.begin() + (least - fitted.begin()));
  }
  return costs;
}

double time_of(std::span<const double> work, std::span<const double> unit_costs) {
  FARVEC_CHECK(work.size() == unit_costs.size());
  return std::inner_product(work.begin(), work.end(), unit_costs.begin(), 0.0);
}

}  // namespace farvec::measure
