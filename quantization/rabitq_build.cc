// This file is the data side of RaBitQ: training and encoding.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "distance/distance.h"
#include "quantization/encoder.h"
#include "quantization/mean.h"
#include "quantization/ordered_dot.h"
#include "quantization/rabitq.h"

namespace farvec::quantization {
namespace {

constexpr std::size_t kEncodeChunk = 256;
constexpr double kEpsilon0 = 1.9;

/// Turns stored rows into their codes and factors, for one thread.
class RowEncoder {
 public:
  RowEncoder(const RabitqParameters& parameters, const Rotation& rotation)
      : parameters_(parameters),
        rotation_(rotation),
        encoder_(CodeShape(parameters.dimension, parameters.bits)),
        residual_(parameters.dimension) {}

  Factors fit(const std::byte* row) {
    const std::uint32_t dimension = parameters_.dimension;
    const float* centroid = parameters_.centroid.data();
    float* r = residual_.data();
    distance::widen(row, parameters_.type, dimension, r);
    for (std::uint32_t i = 0; i < dimension; ++i) r[i] -= centroid[i];
    const double along_centroid = ordered_dot(r, centroid, dimension);
    rotation_.apply(r);
    const CodeFit fit = encoder_.fit(r);
    const bool l2 = parameters_.metric == Metric::l2;
    return factors(fit, l2 ? fit.norm2 : -along_centroid);
  }

  void pack(const CodeShape& shape, std::byte* record) const {
    encoder_.pack(shape, reinterpret_cast<std::uint8_t*>(record));
  }

 private:
  Factors factors(const CodeFit& fit, double add) const {
    if (!(fit.product > 0)) return {static_cast<float>(add), 0, 0};
    const double rescale = fit.norm2 / fit.product;
    // tan^2 of the angle between the residual and its code.
    const double tangent2 =
        std::max(0.0, fit.norm2 * fit.code_norm2 / (fit.product * fit.product) - 1);
    const double freedom = std::max(1.0, parameters_.dimension - 1.0);
    const double error = kEpsilon0 * std::sqrt(fit.norm2 * tangent2 / freedom);
    return {static_cast<float>(add), static_cast<float>(rescale), static_cast<float>(error)};
  }

  const RabitqParameters& parameters_;
  const Rotation& rotation_;
  Encoder encoder_;
  std::vector<float> residual_;
};

struct FactorRanges {
  static constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Factors low{kInfinity, kInfinity, 0};
  Factors high{-kInfinity, -kInfinity, 0};

  /// A row whose squared length is too large for a float does not widen the ranges: its factors are
  /// clamped.
  void include(const Factors& factors) {
    if (!std::isfinite(factors.add) || !std::isfinite(factors.rescale) ||
        !std::isfinite(factors.error)) {
      return;
    }
    include(factors, factors);
  }

  void include(const Factors& a, const Factors& b) {
    low.add = std::min(low.add, a.add);
    low.rescale = std::min(low.rescale, a.rescale);
    high.add = std::max(high.add, b.add);
    high.rescale = std::max(high.rescale, b.rescale);
    high.error = std::max(high.error, b.error);
  }
};

/// Encodes all rows and calls visit(worker, row number, factors, encoder).
template <typename Visit>
void for_each_row(VectorView data, const RabitqParameters& parameters, const RowWork& work,
                  const Visit& visit) {
  const Rotation rotation(parameters.dimension, parameters.seed);
  parallel_for(data.count, kEncodeChunk, resolve_threads(work.threads),
               [&](std::size_t begin, std::size_t end, unsigned worker) {
                 RowEncoder encoder(parameters, rotation);
                 for (std::size_t i = begin; i < end; ++i) {
                   visit(worker, i, encoder.fit(data.row(i)), encoder);
                 }
                 work.done(end - begin);
               });
}

}  // namespace

RabitqParameters Rabitq::train(VectorView data, Metric metric, std::uint32_t bits,
                               std::uint64_t seed, RowWork work) {
  if (data.count == 0) throw Error("RaBitQ needs at least one vector to train on");
  work.threads = resolve_threads(work.threads);
  RabitqParameters result;
  result.dimension = data.dimension;
  result.bits = bits;
  result.metric = metric;
  result.type = data.type;
  result.seed = seed;
  result.centroid.resize(data.dimension);
  check_parameters(result);
  if (bits == kWholeVectors) {
    work.done(data.count);
    return result;
  }
  result.centroid = mean_row(data, work.threads);

  std::vector<FactorRanges> ranges(work.threads);
  for_each_row(data, result, work,
               [&](unsigned worker, std::size_t, const Factors& factors, const RowEncoder&) {
                 ranges[worker].include(factors);
               });
  for (const FactorRanges& range : ranges) ranges[0].include(range.low, range.high);
  if (ranges[0].low.add > ranges[0].high.add) ranges[0] = {.low = {}, .high = {}};
  result.add_min = ranges[0].low.add;
  result.add_max = ranges[0].high.add;
  result.rescale_min = ranges[0].low.rescale;
  result.rescale_max = ranges[0].high.rescale;
  result.error_max = ranges[0].high.error;
  return result;
}

void Rabitq::check_data(const VectorView& data) const {
  if (data.dimension != parameters_.dimension || data.type != parameters_.type) {
    throw Error("RaBitQ was trained on {} x {}, not on {} x {}", parameters_.dimension,
                to_string(parameters_.type), data.dimension, to_string(data.type));
  }
}

void Rabitq::encode(VectorView data, std::byte* records, RowWork work) const {
  check_data(data);
  if (has_whole_vectors()) {
    for (std::size_t i = 0; i < data.count; ++i) {
      std::memcpy(records + i * record_bytes(), data.row(i), record_bytes());
    }
    return work.done(data.count);
  }
  for_each_row(data, parameters_, work,
               [&](unsigned, std::size_t i, const Factors& factors, const RowEncoder& encoder) {
                 std::byte* record = records + i * record_bytes();
                 encoder.pack(shape_, record);
                 std::memset(record + shape_.code_bytes, 0, record_bytes() - shape_.code_bytes);
                 store_unaligned(record + shape_.code_bytes, codec_.encode(factors));
               });
}

void Rabitq::encode_lowest(VectorView data, const CodeShape& shape, std::byte* out,
                           RowWork work) const {
  check_data(data);
  const std::size_t bytes = shape.code_bytes + sizeof(std::uint32_t);
  for_each_row(data, parameters_, work,
               [&](unsigned, std::size_t i, const Factors& factors, const RowEncoder& encoder) {
                 encoder.pack(shape, out + i * bytes);
                 store_unaligned(out + i * bytes + shape.code_bytes, codec_.encode(factors));
               });
}

}  // namespace farvec::quantization
