#include "quantization/rabitq.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "quantization/ordered_dot.h"
#include "quantization/quantised_query.h"

namespace farvec::quantization {
namespace {

constexpr std::size_t kChunk = 64;

RabitqParameters checked(RabitqParameters parameters) {
  check_parameters(parameters);
  return parameters;
}

CodeShape shape_of(const RabitqParameters& parameters) {
  CodeShape shape(parameters.dimension, parameters.bits);
  if (parameters.bits == kWholeVectors) {
    shape.code_bytes = shape.padded_bytes =
        static_cast<std::uint32_t>(packed_bytes(parameters.type, parameters.dimension));
  }
  return shape;
}

}  // namespace

void check_parameters(const RabitqParameters& p) {
  const bool whole = p.bits == kWholeVectors;
  const std::uint32_t most = whole ? max_dimension(p.type) : kMaxDimension;
  if (p.dimension == 0 || p.dimension > most) {
    throw Error("RaBitQ needs a dimension from 1 to {}, not {}", most, p.dimension);
  }
  if (!whole && p.type == ElementType::b1) throw Error("vectors of bits have no codes of RaBitQ");
  if (p.bits > 8) throw Error("RaBitQ has 1 to 8 bits per dimension, not {}", p.bits);
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
      shape_(shape_of(parameters_)),
      rotation_(has_whole_vectors() ? 1 : parameters_.dimension, parameters_.seed),
      codec_(parameters_),
      kernel_(has_whole_vectors() ? nullptr : select_dot_kernel(shape_, distance::active_isa())),
      exact_(has_whole_vectors() ? distance::many_kernel(parameters_.metric, parameters_.type,
                                                         parameters_.dimension)
                                 : nullptr),
      centroid_norm2_(ordered_dot(parameters_.centroid.data(), parameters_.centroid.data(),
                                  parameters_.dimension)) {}

Rabitq::QueryTerms Rabitq::rotate(const void* query, std::vector<float>& rotated) const {
  const std::uint32_t dimension = parameters_.dimension;
  const float* centroid = parameters_.centroid.data();
  rotated.resize(dimension);
  float* y = rotated.data();
  distance::widen(query, parameters_.type, dimension, y);
  const double along_centroid = ordered_dot(y, centroid, dimension);
  const bool l2 = parameters_.metric == Metric::l2;
  // For inner products any multiple of the centroid may be subtracted from the query. The
  // projection leaves the shortest remainder, to which the error is proportional.
  const bool project = !l2 && centroid_norm2_ > 0;
  const auto share = static_cast<float>(project ? along_centroid / centroid_norm2_ : 1.0);
  for (std::uint32_t i = 0; i < dimension; ++i) y[i] -= share * centroid[i];
  const double norm2 = ordered_dot(y, y, dimension);
  rotation_.apply(y);
  const double cosine = parameters_.metric == Metric::cosine ? 1.0 : 0.0;
  return {l2 ? norm2 : cosine - along_centroid, share, std::sqrt(norm2)};
}

void Rabitq::prepare(const void* query, RabitqQuery& out) const {
  if (has_whole_vectors()) {
    const auto* const bytes = static_cast<const std::byte*>(query);
    out.whole.assign(bytes, bytes + record_bytes());
    return;
  }
  const QueryTerms terms = rotate(query, out.scratch);
  set_scales(terms, quantise_query({&shape_, 1}, shape_.bits, rotation_.kernels(), out), out);
}

void Rabitq::set_scales(const QueryTerms& terms, double step, RabitqQuery& out) const {
  const bool l2 = parameters_.metric == Metric::l2;
  // Products come doubled, which l2 needs; the other metrics halve them again.
  const double product_scale = -step * (l2 ? 1.0 : 0.5);
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
    for (std::size_t i = 0; i < count; ++i) products[i] = coarse_product(query, dots[i]);
    if (!query.fine.empty()) {
      dot.query = query.fine.front().values;
      kernel_(shape_, dot);
      for (std::size_t i = 0; i < count; ++i) {
        products[i] = fine_product(query, products[i], dots[i]);
      }
    }
    for (std::size_t i = 0; i < count; ++i) visit(begin + i, products[i], factors[i]);
  }
}

void Rabitq::measure(const RabitqQuery& query, const Batch& batch, float* out) const {
  exact_(query.whole.data(), packed_view(batch.records, 0, parameters_.dimension, parameters_.type),
         {batch.ids, batch.count}, out);
}

void Rabitq::estimate(const RabitqQuery& query, const std::byte* records, const NodeId* ids,
                      std::size_t count, float* out) const {
  if (has_whole_vectors()) return measure(query, {records, ids, count}, out);
  for_each_estimate(query, {records, ids, count},
                    [&](std::size_t i, float product, std::uint32_t factors) {
                      out[i] = estimate_one(query, product, factors);
                    });
}

void Rabitq::estimate_with_error(const RabitqQuery& query, const std::byte* records,
                                 const NodeId* ids, std::size_t count, float* out,
                                 float* error) const {
  if (has_whole_vectors()) {
    std::fill_n(error, count, 0.0f);
    return measure(query, {records, ids, count}, out);
  }
  for_each_estimate(query, {records, ids, count},
                    [&](std::size_t i, float product, std::uint32_t factors) {
                      out[i] = estimate_one(query, product, factors);
                      error[i] = error_one(query, product, factors);
                    });
}

}  // namespace farvec::quantization
