#include "quantization/neighbor_encoder.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>

#include "base/check.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "distance/distance.h"
#include "quantization/encoder.h"
#include "quantization/mean.h"
#include "quantization/neighbor_factors.h"
#include "quantization/ordered_dot.h"
#include "quantization/rotation.h"

namespace farvec::quantization {
namespace {

constexpr std::size_t kVertexChunk = 64;
constexpr std::size_t kRowChunk = 1024;

/// What the encoding of edges starts from.
struct RotatedRows {
  Metric metric;
  std::uint32_t bits;
  std::uint32_t dimension;
  const float* rows;  ///< less the centroid
  const float* centroid;

  const float* row(NodeId v) const { return rows + std::size_t{v} * dimension; }
};

/// One thread's way from an edge to its code and factors.
class EdgeEncoder {
 public:
  explicit EdgeEncoder(const RotatedRows& rotated)
      : rotated_(rotated),
        encoder_(CodeShape(rotated.dimension, rotated.bits)),
        residual_(rotated.dimension),
        code_(rotated.dimension) {}

  NeighborFactors fit(NodeId vertex, NodeId neighbor) {
    const std::uint32_t dimension = rotated_.dimension;
    const float* const v = rotated_.row(vertex);
    const float* const n = rotated_.row(neighbor);
    float* const r = residual_.data();
    for (std::uint32_t i = 0; i < dimension; ++i) r[i] = n[i] - v[i];
    const CodeFit fit = encoder_.fit(r);
    const double rescale = fit.product > 0 ? fit.norm2 / fit.product : 0;
    const double along_centroid = ordered_dot(r, rotated_.centroid, dimension);
    switch (rotated_.metric) {
      case Metric::l2:
        return factors(fit.norm2 + 2 * rescale * along_code(v), 2 * rescale);
      case Metric::cosine:
        return factors(rescale * along_code(v) - ordered_dot(r, v, dimension) - along_centroid,
                       rescale);
      case Metric::inner_product:
        break;
    }
    return factors(-along_centroid, rescale);
  }

  std::span<const std::uint8_t> levels() const { return encoder_.levels(); }

 private:
  static NeighborFactors factors(double add, double rescale) {
    return {static_cast<float>(add), static_cast<float>(rescale)};
  }

  /// <the code's vector, the vertex less the centroid>.
  double along_code(const float* vertex) {
    const float middle = 0.5f * static_cast<float>((1u << rotated_.bits) - 1);
    const std::span<const std::uint8_t> levels = encoder_.levels();
    for (std::size_t i = 0; i < levels.size(); ++i) {
      code_[i] = static_cast<float>(static_cast<std::int32_t>(levels[i])) - middle;
    }
    return ordered_dot(code_.data(), vertex, levels.size());
  }

  const RotatedRows& rotated_;
  Encoder encoder_;
  std::vector<float> residual_, code_;
};

struct NeighborRanges {
  float add_low = std::numeric_limits<float>::infinity();
  float add_high = -std::numeric_limits<float>::infinity();
  float rescale_low = std::numeric_limits<float>::infinity();
  float rescale_high = -std::numeric_limits<float>::infinity();

  void include(const NeighborRanges& other) {
    add_low = std::min(add_low, other.add_low);
    add_high = std::max(add_high, other.add_high);
    rescale_low = std::min(rescale_low, other.rescale_low);
    rescale_high = std::max(rescale_high, other.rescale_high);
  }
  void include(const NeighborFactors& f) { include({f.add, f.add, f.rescale, f.rescale}); }
};

NeighborRanges ranges_of(const AdjacencyView& graph, const RotatedRows& rotated, unsigned threads) {
  std::vector<NeighborRanges> ranges(threads);
  parallel_for(graph.count, kVertexChunk, threads,
               [&](std::size_t begin, std::size_t end, unsigned worker) {
                 EdgeEncoder encoder(rotated);
                 for (std::size_t v = begin; v < end; ++v) {
                   for (std::uint32_t i = 0; i < graph.degrees[v]; ++i) {
                     ranges[worker].include(encoder.fit(static_cast<NodeId>(v), graph.row(v)[i]));
                   }
                 }
               });
  for (const NeighborRanges& range : ranges) ranges[0].include(range);
  return ranges[0];
}

RabitqParameters without_ranges(const VectorView& rows, const NeighborTraining& training) {
  if (rows.count == 0) throw Error("codes need at least one vector to train on");
  RabitqParameters parameters;
  parameters.dimension = rows.dimension;
  parameters.bits = training.bits;
  parameters.metric = training.metric;
  parameters.type = rows.type;
  parameters.seed = training.seed;
  parameters.centroid.resize(rows.dimension);
  check_parameters(parameters);
  parameters.centroid = mean_row(rows, resolve_threads(training.threads));
  return parameters;
}

HugeBuffer rotate_rows(const VectorView& rows, const RabitqParameters& parameters,
                       unsigned threads) {
  const Rotation rotation(parameters.dimension, parameters.seed);
  const std::uint32_t dimension = rows.dimension;
  HugeBuffer rotated(rows.count * dimension * sizeof(float));
  parallel_for(rows.count, kRowChunk, threads, [&](std::size_t begin, std::size_t end, unsigned) {
    for (std::size_t v = begin; v < end; ++v) {
      float* const row = reinterpret_cast<float*>(rotated.data()) + v * dimension;
      distance::widen(rows.row(v), rows.type, dimension, row);
      for (std::uint32_t i = 0; i < dimension; ++i) row[i] -= parameters.centroid[i];
      rotation.apply(row);
    }
  });
  return rotated;
}

RotatedRows view_of(const HugeBuffer& rotated, const RabitqParameters& parameters,
                    const std::vector<float>& centroid) {
  return {parameters.metric, parameters.bits, parameters.dimension,
          reinterpret_cast<const float*>(rotated.data()), centroid.data()};
}

NeighborCodes with_ranges(RabitqParameters parameters, const NeighborRanges& ranges) {
  if (ranges.add_low <= ranges.add_high) {  // else there are no edges
    parameters.add_min = ranges.add_low;
    parameters.add_max = ranges.add_high;
    parameters.rescale_min = ranges.rescale_low;
    parameters.rescale_max = ranges.rescale_high;
  }
  return NeighborCodes(std::move(parameters));
}

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

}  // namespace

NeighborEncoder::NeighborEncoder(const EdgeSet& edges, const NeighborTraining& training)
    : edges_(edges), codes_([&] {
        FARVEC_CHECK(edges.graph.count == edges.rows.count, "{} vertices", edges.graph.count);
        const unsigned threads = resolve_threads(training.threads);
        RabitqParameters parameters = without_ranges(edges.rows, training);
        rotated_ = rotate_rows(edges.rows, parameters, threads);
        centroid_ = parameters.centroid;
        Rotation(parameters.dimension, parameters.seed).apply(centroid_.data());
        const NeighborRanges ranges =
            ranges_of(edges.graph, view_of(rotated_, parameters, centroid_), threads);
        return with_ranges(std::move(parameters), ranges);
      }()) {}

void NeighborEncoder::encode(NodeId v, std::byte* out) const {
  const RabitqParameters& parameters = codes_.parameters();
  const ScanShape shape(parameters.dimension, parameters.bits);
  const std::uint32_t degree = edges_.graph.degrees[v];
  std::memset(out, 0, codes_.bytes(degree));
  const NeighborFactorCodec codec(parameters);
  const RotatedRows rotated = view_of(rotated_, parameters, centroid_);
  EdgeEncoder encoder(rotated);
  for (std::uint32_t i = 0; i < degree; ++i) {
    const NeighborFactors factors = encoder.fit(v, edges_.graph.row(v)[i]);
    std::byte* const block = out + std::size_t{i / kScanBlock} * shape.block_bytes();
    const std::uint32_t place = i % kScanBlock;
    pack_neighbor(shape, encoder.levels(), place, reinterpret_cast<std::uint8_t*>(block));
    std::byte* const adds = block + shape.code_bytes();
    store_unaligned(adds + 2 * place, codec.encode_add(factors.add));
    store_unaligned(adds + 2 * (kScanBlock + place), codec.encode_rescale(factors.rescale));
  }
}

}  // namespace farvec::quantization
