#include "quantization/neighbor_codes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.h"
#include "distance/distance.h"
#include "quantization/neighbor_factors.h"

namespace farvec::quantization {
namespace {

constexpr std::int32_t kTopDigit = 63;  ///< four of them are kTopEntry
static_assert(4 * kTopDigit == kTopEntry);

RabitqParameters checked_neighbors(RabitqParameters parameters) {
  check_parameters(parameters);
  if (parameters.bits > NeighborCodes::kMostBits) {
    throw Error("codes of neighbours have 1 to {} bits per dimension, not {}",
                NeighborCodes::kMostBits, parameters.bits);
  }
  return parameters;
}

/// What the tables do to sums: entries are shifted so that none is negative.
struct TableSums {
  std::int32_t digits = 0;  ///< of all dimensions
  std::int32_t shifts = 0;  ///< of all columns
};

/// Fills the 16 entries of a column from the digits of its four dimensions.
void fill_column(const std::int32_t (&digits)[4], std::uint8_t* entries, TableSums& sums) {
  std::int32_t shift = 0;
  for (const std::int32_t digit : digits) {
    sums.digits += digit;
    shift -= std::min(digit, 0);
  }
  sums.shifts += shift;
  for (int mask = 0; mask < 16; ++mask) {
    std::int32_t entry = shift;
    for (int j = 0; j < 4; ++j) entry += (mask >> j & 1) != 0 ? digits[j] : 0;
    entries[mask] = static_cast<std::uint8_t>(entry);
  }
}

/// Digits of one unit each stand for 1 / per_unit of the rotated query.
float units(const std::vector<float>& rotated) {
  float largest = 0;
  for (const float value : rotated) largest = std::max(largest, std::fabs(value));
  // Also false for NaN and for values whose reciprocal would overflow.
  return largest > std::numeric_limits<float>::min() * kTopDigit ? kTopDigit / largest : 0;
}

std::int32_t digit_of(float value, float per_unit) {
  const float scaled = value * per_unit;
  // Also false for NaN, which a query that nobody checked may hold.
  return std::fabs(scaled) < kTopDigit + 0.5f ? static_cast<std::int32_t>(std::nearbyint(scaled))
                                              : 0;
}

TableSums fill_tables(const std::vector<float>& rotated, float per_unit, std::uint8_t* entries) {
  TableSums sums;
  for (std::size_t begin = 0; begin < rotated.size(); begin += 4) {
    std::int32_t digits[4] = {};
    for (std::size_t j = 0; j < 4 && begin + j < rotated.size(); ++j) {
      digits[j] = digit_of(rotated[begin + j], per_unit);
    }
    fill_column(digits, entries + begin * 4, sums);
  }
  return sums;
}

}  // namespace

NeighborCodes::NeighborCodes(RabitqParameters parameters)
    : parameters_(checked_neighbors(std::move(parameters))),
      shape_(parameters_.dimension, parameters_.bits),
      rotation_(parameters_.dimension, parameters_.seed),
      kernel_(select_scan(distance::active_isa())) {}

void NeighborCodes::prepare(const void* query, NeighborQuery& out) const {
  const std::uint32_t dimension = parameters_.dimension;
  out.rotated.resize(dimension);
  float* const y = out.rotated.data();
  distance::widen(query, parameters_.type, dimension, y);
  for (std::uint32_t i = 0; i < dimension; ++i) y[i] -= parameters_.centroid[i];
  rotation_.apply(y);
  const float per_unit = units(out.rotated);
  // Columns behind the last dimension have entries of 0.
  out.tables.assign(shape_.columns / ScanShape::kColumnGroup, NeighborQuery::Tables{});
  const TableSums sums = fill_tables(out.rotated, per_unit, out.tables.front().entries);
  const double step = per_unit > 0 ? 1.0 / static_cast<double>(per_unit) : 0;
  const NeighborFactorCodec codec(parameters_);
  const auto top_level = static_cast<float>((1u << parameters_.bits) - 1);
  out.scan = {.tables = out.tables.front().entries,
              .base = parameters_.add_min,
              .add_scale = static_cast<float>(codec.add_step()),
              .rescale_base = static_cast<float>(step * parameters_.rescale_min),
              .rescale_scale = static_cast<float>(step * codec.rescale_step()),
              .bias = top_level *
                      (static_cast<float>(sums.shifts) + 0.5f * static_cast<float>(sums.digits))};
}

}  // namespace farvec::quantization
