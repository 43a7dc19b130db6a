// Codes of a vertex's neighbours relative to the vertex, which lie in the vertex's own record.
// Source: Gou et al., "SymphonyQG" (SIGMOD 2025), on extended RaBitQ; formulae in
// docs/quantization.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/types.h"
#include "quantization/kernels/scan.h"
#include "quantization/rabitq.h"
#include "quantization/rotation.h"

namespace farvec::quantization {

/// One query, rotated, as tables. Reused between queries: prepare() allocates only when the
/// dimension grows. Only NeighborCodes reads the members.
struct NeighborQuery {
  struct alignas(64) Tables {
    std::uint8_t entries[64];
  };
  std::vector<float> rotated;
  std::vector<std::int8_t> digits;
  std::vector<Tables> tables;
  ScanQuery scan;  ///< without the exact distance in its base
};

/// A neighbour's code is that of what lies between it and the vertex, so its error shrinks with the
/// length of the edge: one bit per dimension estimates as well as three that are relative to one
/// centroid of all. A code takes 1 to kMostBits bits per dimension, a neighbour's factors 4 bytes,
/// and neighbours come in blocks of kScanBlock. Thread-safe once constructed.
class NeighborCodes {
 public:
  static constexpr std::uint32_t kMostBits = 4;
  /// Throws Error unless codes may have these bits per dimension: 1 to kMostBits.
  static void check_bits(std::uint32_t bits);

  /// Throws Error when the parameters contradict themselves or have more than kMostBits.
  /// error_max is 0: there is no bound.
  explicit NeighborCodes(RabitqParameters parameters);

  const RabitqParameters& parameters() const { return parameters_; }
  /// Bytes of the codes of `degree` neighbours: whole blocks.
  std::uint32_t bytes(std::uint32_t degree) const {
    return bytes(parameters_.dimension, parameters_.bits, degree);
  }
  static std::uint32_t bytes(std::uint32_t dimension, std::uint32_t bits, std::uint32_t degree) {
    return (degree + kScanBlock - 1) / kScanBlock * ScanShape(dimension, bits).block_bytes();
  }

  /// `query` is one row of parameters().type in stored form, at any alignment.
  void prepare(const void* query, NeighborQuery& out) const;

  /// One block of a vertex's neighbours.
  struct Block {
    const std::byte* codes = nullptr;  ///< what a NeighborEncoder wrote for the vertex
    std::uint32_t number = 0;
    float distance = 0;  ///< of the vertex, exact
    float bound = 0;     ///< neighbours that are not nearer are of no interest
  };

  /// out[i] = estimated distance of the query to neighbour i of the block, for all kScanBlock of
  /// them; bit i of what it returns is set where that is below the bound. What lies behind the last
  /// neighbour means nothing. The same to the bit on every processor.
  std::uint32_t estimate(const NeighborQuery& query, const Block& block, float* out) const {
    ScanQuery scan = query.scan;
    scan.base += block.distance;
    scan.bound = block.bound;
    return kernel_(shape_, scan,
                   reinterpret_cast<const std::uint8_t*>(block.codes) +
                       std::size_t{block.number} * shape_.block_bytes(),
                   out);
  }

 private:
  RabitqParameters parameters_;
  ScanShape shape_;
  Rotation rotation_;
  ScanKernel kernel_;
};

}  // namespace farvec::quantization
