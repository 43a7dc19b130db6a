#include "quantization/quantised_query.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace farvec::quantization {
namespace {

constexpr std::uint32_t kCoarseBits = 4;  ///< codes up to here need 8 bits of query precision
constexpr float kCoarseTop = 127;
constexpr float kFineTop = 127 * 128;

/// Mirrors the planes: the 8-bit values of the rotated query, group by group.
void mirror(const CodeShape& shape, const std::int8_t* values, std::int8_t* bytes) {
  for (std::uint32_t p = 0; p < shape.plane_count; ++p) {
    const Plane& plane = shape.planes[p];
    for (std::uint32_t group = 0, begin = 0; begin < shape.dimension;
         ++group, begin += plane.bytes) {
      const std::uint32_t count = std::min(plane.bytes, shape.dimension - begin);
      std::copy_n(values + begin, count, bytes + std::size_t{group} * plane.query_stride());
    }
    bytes += plane.query_bytes();
  }
}

void lay_out(std::span<const CodeShape> shapes, const std::int8_t* values,
             std::vector<RabitqQuery::Block>& out) {
  std::size_t bytes = 0;
  for (const CodeShape& shape : shapes) bytes += shape.query_bytes();
  out.assign(bytes / sizeof(RabitqQuery::Block), RabitqQuery::Block{});
  std::int8_t* place = out.front().values;
  for (const CodeShape& shape : shapes) {
    mirror(shape, values, place);
    place += shape.query_bytes();
  }
}

}  // namespace

double quantise_query(std::span<const CodeShape> shapes, std::uint32_t bits,
                      const QueryKernels& kernels, RabitqQuery& out) {
  const bool two_levels = bits > kCoarseBits;
  const std::uint32_t dimension = shapes.front().dimension;
  const float largest = kernels.largest(out.scratch.data(), out.scratch.size());
  const float top = two_levels ? kFineTop : kCoarseTop;
  // The condition is false also for NaN and for values whose reciprocal would overflow.
  const float per_unit = largest > std::numeric_limits<float>::min() * kFineTop ? top / largest : 0;
  out.values.resize(2 * std::size_t{dimension});
  std::int8_t* const coarse = out.values.data();
  std::int8_t* const fine = two_levels ? coarse + dimension : nullptr;
  const DigitSums sums = kernels.digits(out.scratch.data(), dimension, per_unit, top, coarse, fine);
  const std::int32_t top_level = (1 << bits) - 1;
  lay_out(shapes, coarse, out.coarse);
  out.coarse_bias = sums.coarse * top_level;
  out.fine.clear();
  out.fine_bias = 0;
  if (two_levels) {
    lay_out(shapes, fine, out.fine);
    out.fine_bias = sums.fine * top_level;
  }
  return per_unit > 0 ? 1.0 / per_unit : 0.0;
}

}  // namespace farvec::quantization
