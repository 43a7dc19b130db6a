#include "quantization/neighbor_codes.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/memory.h"
#include "distance/distance.h"
#include "quantization/kernels/query.h"
#include "quantization/neighbor_factors.h"

namespace farvec::quantization {
namespace {

constexpr std::int32_t kTopDigit = 63;  ///< kTopEntry is four of them
static_assert(4 * kTopDigit == kTopEntry);

RabitqParameters checked_neighbors(RabitqParameters parameters) {
  check_parameters(parameters);
  NeighborCodes::check_bits(parameters.bits);
  return parameters;
}

using Entries = std::uint8_t __attribute__((vector_size(16)));

/// Fills the 16 entries of a column from the digits of its four dimensions, and returns the shift.
std::int32_t fill_column(const std::int8_t* digits, std::uint8_t* entries) {
  constexpr Entries kHas[4] = {{0, 255, 0, 255, 0, 255, 0, 255, 0, 255, 0, 255, 0, 255, 0, 255},
                               {0, 0, 255, 255, 0, 0, 255, 255, 0, 0, 255, 255, 0, 0, 255, 255},
                               {0, 0, 0, 0, 255, 255, 255, 255, 0, 0, 0, 0, 255, 255, 255, 255},
                               {0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255}};
  std::int32_t shift = 0;
  for (int j = 0; j < 4; ++j) shift -= std::min<std::int32_t>(digits[j], 0);
  Entries sums = Entries{} + static_cast<std::uint8_t>(shift);
  for (int j = 0; j < 4; ++j) sums += kHas[j] & static_cast<std::uint8_t>(digits[j]);
  std::memcpy(entries, &sums, sizeof(sums));
  return shift;
}

/// `digits` fill whole columns, as many as the tables have.
std::int32_t fill_tables(std::span<const std::int8_t> digits, std::uint8_t* entries) {
  std::int32_t shifts = 0;
  for (std::size_t begin = 0; begin < digits.size(); begin += 4) {
    shifts += fill_column(digits.data() + begin, entries + begin * 4);
  }
  return shifts;
}

}  // namespace

void NeighborCodes::check_bits(std::uint32_t bits) {
  if (bits != 0 && bits <= kMostBits) return;
  throw Error("codes of neighbours have 1 to {} bits per dimension, not {}", kMostBits, bits);
}

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
  const QueryKernels& kernels = rotation_.kernels();
  const float largest = kernels.largest(y, dimension);
  // A digit of one unit stands for 1 / per_unit of the rotated query. The condition is false also
  // for NaN and for values whose reciprocal would overflow.
  const float per_unit =
      largest > std::numeric_limits<float>::min() * kTopDigit ? kTopDigit / largest : 0;
  // After the last dimension digits are 0, and so are the entries of columns after those digits.
  out.digits.assign(round_up(dimension, 4), 0);
  const DigitSums sums =
      kernels.digits(y, dimension, per_unit, kTopDigit, out.digits.data(), nullptr);
  out.tables.assign(shape_.columns / ScanShape::kColumnGroup, NeighborQuery::Tables{});
  const std::int32_t shifts = fill_tables(out.digits, out.tables.front().entries);
  const double step = per_unit > 0 ? 1.0 / static_cast<double>(per_unit) : 0;
  const NeighborFactorCodec codec(parameters_);
  const auto top_level = static_cast<float>((1u << parameters_.bits) - 1);
  out.scan = {
      .tables = out.tables.front().entries,
      .base = parameters_.add_min,
      .add_scale = static_cast<float>(codec.add_step()),
      .rescale_base = static_cast<float>(step * parameters_.rescale_min),
      .rescale_scale = static_cast<float>(step * codec.rescale_step()),
      .bias = top_level * (static_cast<float>(shifts) + 0.5f * static_cast<float>(sums.coarse))};
}

}  // namespace farvec::quantization
