#include "quantization/reduction.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "base/packed_bits.h"
#include "base/parallel.h"
#include "distance/distance.h"

namespace farvec::quantization {
namespace {

constexpr std::size_t kRangeRun = 4096;
/// Elements are reduced in pieces of this many, so that little stack is needed: whole bytes of
/// bits.
constexpr std::uint32_t kPiece = 256;
constexpr float kLargestHalf = 65504;

struct Range {
  float least = std::numeric_limits<float>::infinity();
  float most = -std::numeric_limits<float>::infinity();
};

Range range_of(const VectorView& rows, unsigned threads) {
  std::vector<Range> ranges(resolve_threads(threads));
  parallel_for(rows.count, kRangeRun, resolve_threads(threads),
               [&](std::size_t begin, std::size_t end, unsigned worker) {
                 std::vector<float> row(rows.dimension);
                 for (std::size_t i = begin; i < end; ++i) {
                   distance::widen(rows.row(i), rows.type, rows.dimension, row.data());
                   const auto [least, most] = std::ranges::minmax(row);
                   ranges[worker].least = std::min(ranges[worker].least, least);
                   ranges[worker].most = std::max(ranges[worker].most, most);
                 }
               });
  Range all;
  for (const Range& range : ranges) {
    all.least = std::min(all.least, range.least);
    all.most = std::max(all.most, range.most);
  }
  return all;
}

/// Says whether halves keep rows whose largest element this is, and queries that are longer.
bool fits_halves(float largest) {
  return largest == 0 || (largest >= 0x1p-10f && largest <= kLargestHalf);
}

/// Returns what the largest element of all rows becomes. Halves leave room for longer queries.
float largest_of(ElementType type) {
  if (type == ElementType::f16) return 1;
  return type == ElementType::i8 ? 127 : 255;
}

}  // namespace

void to_bits(std::span<const float> row, std::span<const float> thresholds, std::byte* out) {
  FARVEC_CHECK(row.size() == thresholds.size());
  pack_bits(static_cast<std::uint32_t>(row.size()), out,
            [&](std::uint32_t d) { return row[d] > thresholds[d]; });
}

float rounding_factor(const VectorView& rows, ElementType type, unsigned threads,
                      RoundedRows which) {
  const Range range = range_of(rows, threads);
  const bool any = which == RoundedRows::any;
  if (type == ElementType::u8 && range.least < 0 && !any) {
    throw Error("elements as low as {} do not fit u8: use i8, f16 or b1", range.least);
  }
  const float largest = std::max(std::abs(range.least), std::abs(range.most));
  if (type == ElementType::f16 && fits_halves(largest)) return 1;
  if (!(largest > 0) && any) return 1;
  if (!(largest > 0)) throw Error("all elements are 0, which no rounding can tell apart");
  const float factor = largest_of(type) / largest;
  if (std::isfinite(factor)) return factor;
  if (any) return std::numeric_limits<float>::max();
  throw Error(
      "no element is farther from 0 than {}, which is too little to be rounded to {}: "
      "multiply the data by one factor",
      largest, to_string(type));
}

Reduction::Reduction(const layout::SecondCopyFacts& facts, ElementType to, std::uint32_t dimension)
    : from_(facts.type),
      to_(to),
      dimension_(dimension),
      kind_(facts.reduction),
      parameters_(facts.parameters) {
  FARVEC_CHECK((kind_ == layout::ReductionKind::bits) == (to == ElementType::b1));
  FARVEC_CHECK(parameters_.size() == layout::reduction_parameters(kind_, dimension));
}

void Reduction::reduce(const std::byte* row, std::byte* out) const {
  float values[kPiece];
  for (std::uint32_t first = 0; first < dimension_; first += kPiece) {
    const std::uint32_t count = std::min(kPiece, dimension_ - first);
    distance::widen(row + packed_bytes(from_, first), from_, count, values);
    std::byte* const piece = out + packed_bytes(to_, first);
    if (kind_ == layout::ReductionKind::bits) {
      to_bits({values, count}, {parameters_.data() + first, count}, piece);
      continue;
    }
    // Integers are clamped as they are rounded, but a half would become infinite.
    for (std::uint32_t i = 0; i < count; ++i) {
      values[i] = std::clamp(values[i] * parameters_.front(), -kLargestHalf, kLargestHalf);
    }
    distance::narrow(values, to_, count, piece);
  }
}

}  // namespace farvec::quantization
