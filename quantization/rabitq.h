// RaBitQ: 1 to 8 bits per dimension, unbiased distance estimates with an error bound.
// Source: Gao & Long, "RaBitQ" (SIGMOD 2024) and "Practical and asymptotically optimal
// quantization" (SIGMOD 2025); formulae in docs/quantization.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"
#include "quantization/rotation.h"

namespace farvec::quantization {

/// All that is needed, beside the code records, to estimate distances. Plain data: layout/ writes
/// it into the index.
struct RabitqParameters {
  std::uint32_t dimension = 0;
  std::uint32_t bits = 0;  ///< per dimension, 1 to 8
  Metric metric = Metric::l2;
  ElementType type = ElementType::f32;  ///< stored type of the vectors
  std::uint64_t seed = 0;               ///< of the rotation
  std::vector<float> centroid;          ///< `dimension` floats, not rotated
  // Ranges of the per-vector factors, which a record holds in fixed point.
  float add_min = 0, add_max = 0;
  float rescale_min = 0, rescale_max = 0;
  float error_max = 0;
};

/// One query, rotated and quantised. Reused between queries: prepare() allocates only when the
/// dimension grows.
struct RabitqQuery;

class Rabitq {
 public:
  /// Centroid and factor ranges from all of `data` (stored type, so unit vectors for cosine).
  static RabitqParameters train(VectorView data, Metric metric, std::uint32_t bits,
                                std::uint64_t seed, unsigned threads);
  explicit Rabitq(RabitqParameters parameters);

  const RabitqParameters& parameters() const;
  /// Bytes of one record: code, then 4 bytes of factors; a multiple of 4.
  std::size_t record_bytes() const;
  static std::size_t record_bytes(std::uint32_t dimension, std::uint32_t bits);

  /// Encodes every row into records[i * record_bytes()]. Deterministic.
  void encode(VectorView data, std::byte* records, unsigned threads) const;

  void prepare(const void* query, RabitqQuery& out) const;

  /// out[i] = estimated distance of the query to the vector whose record is number ids[i].
  /// Records should already be on their way to the cache.
  void estimate(const RabitqQuery& query, const std::byte* records, const NodeId* ids,
                std::size_t count, float* out) const;
  /// The same with the half-width of the error bound in error[i].
  void estimate_with_error(const RabitqQuery& query, const std::byte* records, const NodeId* ids,
                           std::size_t count, float* out, float* error) const;
};

}  // namespace farvec::quantization
