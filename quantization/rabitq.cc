#include "quantization/rabitq.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.h"
#include "quantization/ordered_dot.h"

namespace farvec::quantization {
namespace {

constexpr std::size_t kChunk = 64;
constexpr std::uint32_t kCoarseBits = 4;  ///< codes up to here need 8 bits of query precision
constexpr float kCoarseTop = 127;
constexpr float kFineTop = 127 * 128;

RabitqParameters checked(RabitqParameters parameters) {
  check_parameters(parameters);
  return parameters;
}

/// Mirrors the planes: the 8-bit values of the rotated query, group by group.
void lay_out(const CodeShape& shape, const std::int8_t* values,
             std::vector<RabitqQuery::Block>& out) {
  out.assign(shape.query_bytes() / sizeof(RabitqQuery::Block), RabitqQuery::Block{});
  std::int8_t* bytes = out.front().values;
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

std::int32_t bias(const CodeShape& shape, const std::int8_t* values) {
  std::int32_t sum = 0;
  for (std::uint32_t i = 0; i < shape.dimension; ++i) sum += values[i];
  return sum * ((1 << shape.bits) - 1);
}

/// Quantises the rotated query in out.scratch; returns the step.
double quantise(const CodeShape& shape, RabitqQuery& out) {
  const bool two_levels = shape.bits > kCoarseBits;
  float largest = 0;
  for (const float v : out.scratch) largest = std::max(largest, std::fabs(v));
  const float top = two_levels ? kFineTop : kCoarseTop;
  // Also false for NaN and for values whose reciprocal would overflow.
  const float per_unit = largest > std::numeric_limits<float>::min() * kFineTop ? top / largest : 0;
  std::int8_t coarse[kMaxDimension], fine[kMaxDimension];
  for (std::uint32_t i = 0; i < shape.dimension; ++i) {
    const float scaled = out.scratch[i] * per_unit;
    // Also false for NaN, which a query that nobody checked may hold.
    const bool usable = std::fabs(scaled) < top + 0.5f;
    const auto value = usable ? static_cast<std::int32_t>(std::nearbyint(scaled)) : 0;
    const std::int32_t high = two_levels ? (value + 64) >> 7 : value;
    coarse[i] = static_cast<std::int8_t>(high);
    fine[i] = static_cast<std::int8_t>(value - high * 128);
  }
  lay_out(shape, coarse, out.coarse);
  out.coarse_bias = bias(shape, coarse);
  out.fine.clear();
  out.fine_bias = 0;
  if (two_levels) {
    lay_out(shape, fine, out.fine);
    out.fine_bias = bias(shape, fine);
  }
  return per_unit > 0 ? 1.0 / per_unit : 0.0;
}

float estimate_one(const RabitqQuery& query, float product, std::uint32_t factors) {
  const auto add = static_cast<float>(static_cast<std::int32_t>(factors & FactorCodec::kMask));
  const auto rescale = static_cast<float>(
      static_cast<std::int32_t>(factors >> FactorCodec::kRescaleShift & FactorCodec::kMask));
  return (query.base + query.add_scale * add) +
         (query.rescale_base + query.rescale_scale * rescale) * product;
}

/// The statistical bound, plus what rounding the factors can do at most.
float error_one(const RabitqQuery& query, float product, std::uint32_t factors) {
  const auto error =
      static_cast<float>(static_cast<std::int32_t>(factors >> FactorCodec::kErrorShift));
  return query.error_scale * error +
         0.5f * (std::fabs(query.add_scale) + std::fabs(query.rescale_scale * product));
}

}  // namespace

void check_parameters(const RabitqParameters& p) {
  if (p.dimension == 0 || p.dimension > kMaxDimension) {
    throw Error("RaBitQ needs a dimension from 1 to {}, not {}", kMaxDimension, p.dimension);
  }
  if (p.bits == 0 || p.bits > 8)
    throw Error("RaBitQ has 1 to 8 bits per dimension, not {}", p.bits);
  if (p.centroid.size() != p.dimension) {
    throw Error("a RaBitQ centroid of {} values does not fit dimension {}", p.centroid.size(),
                p.dimension);
  }
  if (!(p.add_min <= p.add_max) || !(p.rescale_min <= p.rescale_max) || !(p.error_max >= 0)) {
    throw Error("RaBitQ factor ranges are reversed or not numbers");
  }
  const auto finite = [](float value) { return std::isfinite(value); };
  if (!finite(p.add_min) || !finite(p.add_max) || !finite(p.rescale_min) ||
      !finite(p.rescale_max) || !finite(p.error_max)) {
    throw Error(
        "the vectors are too long for codes: a squared length exceeds the largest float; scale the "
        "data (by 1e-10, say)");
  }
}

Rabitq::Rabitq(RabitqParameters parameters)
    : parameters_(checked(std::move(parameters))),
      shape_(parameters_.dimension, parameters_.bits),
      rotation_(parameters_.dimension, parameters_.seed),
      codec_(parameters_),
      kernel_(select_dot_kernel(shape_, distance::active_isa())),
      centroid_norm2_(ordered_dot(parameters_.centroid.data(), parameters_.centroid.data(),
                                  parameters_.dimension)) {}

void Rabitq::prepare(const void* query, RabitqQuery& out) const {
  const std::uint32_t dimension = parameters_.dimension;
  const float* centroid = parameters_.centroid.data();
  out.scratch.resize(dimension);
  float* y = out.scratch.data();
  distance::widen(query, parameters_.type, dimension, y);
  const double along_centroid = ordered_dot(y, centroid, dimension);
  const bool l2 = parameters_.metric == Metric::l2;
  // For inner products any multiple of the centroid may be taken off the query: the projection
  // leaves the shortest remainder, to which the error is proportional.
  const bool project = !l2 && centroid_norm2_ > 0;
  const auto share = static_cast<float>(project ? along_centroid / centroid_norm2_ : 1.0);
  for (std::uint32_t i = 0; i < dimension; ++i) y[i] -= share * centroid[i];
  const double norm2 = ordered_dot(y, y, dimension);
  rotation_.apply(y);
  const double step = quantise(shape_, out);
  const double cosine = parameters_.metric == Metric::cosine ? 1.0 : 0.0;
  set_scales({l2 ? norm2 : cosine - along_centroid, share, step, std::sqrt(norm2)}, out);
}

void Rabitq::set_scales(const QueryTerms& terms, RabitqQuery& out) const {
  const bool l2 = parameters_.metric == Metric::l2;
  // Products come doubled, which l2 needs and the others take back.
  const double product_scale = -terms.step * (l2 ? 1.0 : 0.5);
  out.base = static_cast<float>(terms.offset + terms.share * parameters_.add_min);
  out.add_scale = static_cast<float>(terms.share * codec_.add_step());
  out.rescale_base = static_cast<float>(product_scale * parameters_.rescale_min);
  out.rescale_scale = static_cast<float>(product_scale * codec_.rescale_step());
  out.error_scale = static_cast<float>((l2 ? 2.0 : 1.0) * terms.norm * codec_.error_step());
}

template <typename Visit>
void Rabitq::for_each_estimate(const RabitqQuery& query, const Batch& batch,
                               const Visit& visit) const {
  float products[kChunk];
  std::int32_t dots[kChunk];
  std::uint32_t factors[kChunk];
  for (std::size_t begin = 0; begin < batch.count; begin += kChunk) {
    const std::size_t count = std::min(kChunk, batch.count - begin);
    DotBatch dot{
        query.coarse.front().values, batch.records, batch.ids + begin, count, dots, factors};
    kernel_(shape_, dot);
    for (std::size_t i = 0; i < count; ++i) {
      products[i] = static_cast<float>(2 * dots[i] - query.coarse_bias);
    }
    if (!query.fine.empty()) {
      dot.query = query.fine.front().values;
      kernel_(shape_, dot);
      for (std::size_t i = 0; i < count; ++i) {
        products[i] = products[i] * 128.0f + static_cast<float>(2 * dots[i] - query.fine_bias);
      }
    }
    for (std::size_t i = 0; i < count; ++i) visit(begin + i, products[i], factors[i]);
  }
}

void Rabitq::estimate(const RabitqQuery& query, const std::byte* records, const NodeId* ids,
                      std::size_t count, float* out) const {
  for_each_estimate(query, {records, ids, count},
                    [&](std::size_t i, float product, std::uint32_t factors) {
                      out[i] = estimate_one(query, product, factors);
                    });
}

void Rabitq::estimate_with_error(const RabitqQuery& query, const std::byte* records,
                                 const NodeId* ids, std::size_t count, float* out,
                                 float* error) const {
  for_each_estimate(query, {records, ids, count},
                    [&](std::size_t i, float product, std::uint32_t factors) {
                      out[i] = estimate_one(query, product, factors);
                      error[i] = error_one(query, product, factors);
                    });
}

}  // namespace farvec::quantization
