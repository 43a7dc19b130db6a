// Rabitq is RaBitQ: codes of 1 to 8 bits per dimension that give unbiased distance estimates with
// an error bound. Source: Gao & Long, "RaBitQ" (SIGMOD 2024) and "Practical and asymptotically
// optimal quantization" (SIGMOD 2025); formulae and record format in
// docs/understand/quantization.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/memory.h"
#include "base/progress.h"
#include "base/types.h"
#include "distance/distance.h"
#include "quantization/code_shape.h"
#include "quantization/factors.h"
#include "quantization/kernels/kernel.h"
#include "quantization/rotation.h"

namespace farvec::quantization {

/// Used in place of bits per dimension: there are no codes, every record is the stored vector
/// itself, and estimates are exact. It is for data whose neighbours differ by less than codes can
/// tell.
inline constexpr std::uint32_t kWholeVectors = 0;

/// RabitqParameters are all that is needed, beside the code records, to estimate distances. It is
/// plain data: layout/ writes it into the index.
struct RabitqParameters {
  std::uint32_t dimension = 0;
  std::uint32_t bits = 0;  ///< bits per dimension, 1 to 8, or kWholeVectors
  Metric metric = Metric::l2;
  ElementType type = ElementType::f32;  ///< stored type of the vectors
  std::uint64_t seed = 0;               ///< seed of the rotation
  std::vector<float> centroid;          ///< `dimension` floats, not rotated
  // The ranges of the per-vector factors, which a record holds in fixed point.
  float add_min = 0, add_max = 0;
  float rescale_min = 0, rescale_max = 0;
  float error_max = 0;
};

/// Throws Error when the parameters contradict themselves.
void check_parameters(const RabitqParameters& parameters);

/// A RabitqQuery is a query, rotated and quantised. Reused between queries: prepare() allocates
/// only when the dimension grows. Only Rabitq reads the members.
struct RabitqQuery {
  struct alignas(64) Block {
    std::int8_t values[64];
  };

  std::vector<float> scratch;
  std::vector<std::int8_t> values;  ///< both levels, before they are put in order
  std::vector<std::byte> whole;     ///< the query unchanged, where records are whole vectors
  std::vector<Block> coarse;        ///< the query's values in the order of the code's planes
  std::vector<Block> fine;          ///< their lower 7 bits, when the code has more than 4 bits

  // estimate = (base + add_scale * add) + (rescale_base + rescale_scale * rescale) * product, where
  // add and rescale are the integers in the record and product is 2 <code, values> - bias.
  float base = 0, add_scale = 0;
  float rescale_base = 0, rescale_scale = 0;
  std::int32_t coarse_bias = 0, fine_bias = 0;
  float error_scale = 0;  ///< scale of the record's error factor
};

/// Thread-safe once constructed: every method is const and keeps its state in its arguments.
class Rabitq {
 public:
  /// The estimate is within its half-width of the true distance for this share of all vectors, or
  /// more (the paper's epsilon0 = 1.9: a normal variable is within 1.9 deviations).
  static constexpr double kBoundRate = 0.94;

  /// Trains centroid and factor ranges on all of `data` (stored type, so unit vectors for cosine).
  /// Throws Error when there are no rows, or a dimension or bits are out of range, and
  /// WorkInterrupted. The result does not depend on the threads. Counts every row once.
  static RabitqParameters train(VectorView data, Metric metric, std::uint32_t bits,
                                std::uint64_t seed, RowWork work);
  /// Throws Error when the parameters contradict themselves.
  explicit Rabitq(RabitqParameters parameters);

  const RabitqParameters& parameters() const { return parameters_; }
  /// Returns the bytes of one record: code, 4 bytes of factors, padding; a multiple of 4. For whole
  /// vectors, the bytes of a stored vector.
  std::size_t record_bytes() const { return shape_.record_bytes(); }
  /// Returns the bytes of one record of codes.
  static std::size_t record_bytes(std::uint32_t dimension, std::uint32_t bits) {
    return CodeShape(dimension, bits).record_bytes();
  }

  /// Encodes every row into records[i * record_bytes()]. Deterministic. Rows that were not in the
  /// training data have their factors clamped to the trained ranges. Counts every row once; throws
  /// WorkInterrupted.
  void encode(VectorView data, std::byte* records, RowWork work) const;

  /// `query` is one row of parameters().type in stored form, at any alignment.
  void prepare(const void* query, RabitqQuery& out) const;
  bool has_whole_vectors() const { return parameters_.bits == kWholeVectors; }

  /// Starts to load all cache lines of a record: the last word may be on one more line.
  void prefetch_record(const std::byte* records, NodeId id) const {
    const std::byte* record = records + id * shape_.record_bytes();
    const std::size_t bytes = shape_.record_bytes();
    for (std::size_t offset = 0; offset < bytes; offset += 64) prefetch_line(record + offset);
    if (bytes % 64 > 4) prefetch_line(record + bytes - 1);
  }

  /// Sets out[i] to the estimated distance of the query to the vector whose record has number
  /// ids[i]. Records should already be on their way to the cache. All processors give the same
  /// bits.
  void estimate(const RabitqQuery& query, const std::byte* records, const NodeId* ids,
                std::size_t count, float* out) const;
  /// Also sets error[i] to the half-width of the error bound.
  void estimate_with_error(const RabitqQuery& query, const std::byte* records, const NodeId* ids,
                           std::size_t count, float* out, float* error) const;

 private:
  friend class SplitRabitq;

  struct QueryTerms {
    double offset, share, norm;
  };
  struct Batch {
    const std::byte* records;
    const NodeId* ids;
    std::size_t count;
  };
  void check_data(const VectorView& data) const;
  QueryTerms rotate(const void* query, std::vector<float>& rotated) const;
  /// `step` is the step of the quantised query.
  void set_scales(const QueryTerms& terms, double step, RabitqQuery& out) const;
  /// Encodes the lowest bits of every code in planes of `shape`, and the factors of the whole code:
  /// rows of shape.code_bytes + 4 bytes without padding.
  void encode_lowest(VectorView data, const CodeShape& shape, std::byte* out, RowWork work) const;
  /// Calls visit(i, product, factor word) for each id.
  template <typename Visit>
  void for_each_estimate(const RabitqQuery& query, const Batch& batch, const Visit& visit) const;
  /// Computes exact distances, for whole vectors.
  void measure(const RabitqQuery& query, const Batch& batch, float* out) const;

  RabitqParameters parameters_;
  CodeShape shape_;
  Rotation rotation_;  ///< it has one dimension for whole vectors, which need none
  FactorCodec codec_;
  DotKernel kernel_;            ///< null for whole vectors
  distance::ManyKernel exact_;  ///< for whole vectors
  double centroid_norm2_;
};

}  // namespace farvec::quantization
