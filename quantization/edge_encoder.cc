#include "quantization/edge_encoder.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "distance/distance.h"
#include "quantization/mean.h"
#include "quantization/ordered_dot.h"

namespace farvec::quantization {
namespace {

/// Sets the bits of one neighbour, which are zero, in its block.
void pack_neighbor(const ScanShape& shape, std::span<const std::uint8_t> levels,
                   std::uint32_t place, std::uint8_t* block) {
  const std::uint32_t half = place < 16 ? 0 : 4;
  for (std::uint32_t plane = 0; plane < shape.bits; ++plane) {
    const std::uint32_t bit = shape.bits - 1 - plane;
    std::uint8_t* const columns = block + std::size_t{plane} * shape.plane_bytes() + place % 16;
    for (std::size_t first = 0; first < levels.size(); first += 4) {
      std::uint32_t nibble = 0;
      for (std::size_t j = 0; j < std::min<std::size_t>(4, levels.size() - first); ++j) {
        nibble |= (levels[first + j] >> bit & 1u) << j;
      }
      std::uint8_t& byte = columns[first * (ScanShape::kColumnBytes / 4)];
      byte = static_cast<std::uint8_t>(byte | nibble << half);
    }
  }
}

NeighborFactors factors(double add, double rescale) {
  return {static_cast<float>(add), static_cast<float>(rescale)};
}

}  // namespace

RabitqParameters parameters_without_ranges(const VectorView& rows, Metric metric,
                                           std::uint32_t bits, std::uint64_t seed,
                                           unsigned threads) {
  if (rows.count == 0) throw Error("codes need at least one vector to train on");
  RabitqParameters parameters;
  parameters.dimension = rows.dimension;
  parameters.bits = bits;
  parameters.metric = metric;
  parameters.type = rows.type;
  parameters.seed = seed;
  parameters.centroid.resize(rows.dimension);
  check_parameters(parameters);
  parameters.centroid = mean_row(rows, resolve_threads(threads));
  return parameters;
}

void rotate_row(const RabitqParameters& parameters, const Rotation& rotation, const std::byte* row,
                float* out) {
  distance::widen(row, parameters.type, parameters.dimension, out);
  for (std::uint32_t i = 0; i < parameters.dimension; ++i) out[i] -= parameters.centroid[i];
  rotation.apply(out);
}

EdgeEncoder::EdgeEncoder(const EdgeSpace& space)
    : space_(space),
      encoder_(CodeShape(space.dimension, space.bits)),
      residual_(space.dimension),
      code_(space.dimension) {}

NeighborFactors EdgeEncoder::fit(const float* vertex, const float* neighbor) {
  const std::uint32_t dimension = space_.dimension;
  float* const r = residual_.data();
  for (std::uint32_t i = 0; i < dimension; ++i) r[i] = neighbor[i] - vertex[i];
  const CodeFit fit = encoder_.fit(r);
  const double rescale = fit.product > 0 ? fit.norm2 / fit.product : 0;
  const double along_centroid = ordered_dot(r, space_.centroid, dimension);
  switch (space_.metric) {
    case Metric::l2:
      return factors(fit.norm2 + 2 * rescale * along_code(vertex), 2 * rescale);
    case Metric::cosine:
      return factors(
          rescale * along_code(vertex) - ordered_dot(r, vertex, dimension) - along_centroid,
          rescale);
    case Metric::inner_product:
    case Metric::hamming:  // bits have no codes
    case Metric::jaccard:
      break;
  }
  return factors(-along_centroid, rescale);
}

/// The inner product of the code's vector and the vertex minus the centroid.
double EdgeEncoder::along_code(const float* vertex) {
  const float middle = 0.5f * static_cast<float>((1u << space_.bits) - 1);
  const std::span<const std::uint8_t> levels = encoder_.levels();
  for (std::size_t i = 0; i < levels.size(); ++i) {
    code_[i] = static_cast<float>(static_cast<std::int32_t>(levels[i])) - middle;
  }
  return ordered_dot(code_.data(), vertex, levels.size());
}

void EdgeEncoder::put(const RabitqParameters& parameters, const NeighborFactors& factors,
                      std::uint32_t place, std::byte* blocks) const {
  const ScanShape shape(parameters.dimension, parameters.bits);
  const NeighborFactorCodec codec(parameters);
  std::byte* const block = blocks + std::size_t{place / kScanBlock} * shape.block_bytes();
  place %= kScanBlock;
  pack_neighbor(shape, encoder_.levels(), place, reinterpret_cast<std::uint8_t*>(block));
  std::byte* const adds = block + shape.code_bytes();
  store_unaligned(adds + 2 * place, codec.encode_add(factors.add));
  store_unaligned(adds + 2 * (kScanBlock + place), codec.encode_rescale(factors.rescale));
}

void NeighborRanges::include(const NeighborRanges& other) {
  add_low = std::min(add_low, other.add_low);
  add_high = std::max(add_high, other.add_high);
  rescale_low = std::min(rescale_low, other.rescale_low);
  rescale_high = std::max(rescale_high, other.rescale_high);
}

void NeighborRanges::set(RabitqParameters& parameters) const {
  if (!(add_low <= add_high)) return;
  parameters.add_min = add_low;
  parameters.add_max = add_high;
  parameters.rescale_min = rescale_low;
  parameters.rescale_max = rescale_high;
}

}  // namespace farvec::quantization
