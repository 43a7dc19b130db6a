// NeighborCodes are codes of a vertex's neighbours relative to the vertex. They are in the vertex's
// own record. Source: Gou et al., "SymphonyQG" (SIGMOD 2025), on extended RaBitQ; formulae in
// docs/understand/quantization.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/types.h"
#include "quantization/kernels/scan.h"
#include "quantization/rabitq.h"
#include "quantization/rotation.h"

namespace farvec::quantization {

/// A NeighborQuery is a query, rotated, in the form of tables. Reused between queries: prepare()
/// allocates only when the dimension grows. Only NeighborCodes reads the members.
struct NeighborQuery {
  struct alignas(64) Tables {
    std::uint8_t entries[64];
  };
  std::vector<float> rotated;
  std::vector<std::int8_t> digits;
  std::vector<Tables> tables;
  ScanQuery scan;  ///< without the exact distance in its base
};

/// A neighbour's code encodes the difference between it and the vertex, so its error shrinks with
/// the length of the edge: one bit per dimension estimates as well as three bits relative to one
/// centroid of all. A code takes 1 to kMostBits bits per dimension, a neighbour's factors 4 bytes,
/// and neighbours come in blocks of kScanBlock. Thread-safe once constructed.
class NeighborCodes {
 public:
  static constexpr std::uint32_t kMostBits = 4;
  /// Throws Error unless codes may have this number of bits per dimension: 1 to kMostBits.
  static void check_bits(std::uint32_t bits);

  /// Throws Error when the parameters contradict themselves or have more than kMostBits.
  /// error_max is 0: there is no bound.
  explicit NeighborCodes(RabitqParameters parameters);

  const RabitqParameters& parameters() const { return parameters_; }
  /// Returns the bytes of the codes of `degree` neighbours, in whole blocks.
  std::uint32_t bytes(std::uint32_t degree) const {
    return bytes(parameters_.dimension, parameters_.bits, degree);
  }
  static std::uint32_t bytes(std::uint32_t dimension, std::uint32_t bits, std::uint32_t degree) {
    return (degree + kScanBlock - 1) / kScanBlock * ScanShape(dimension, bits).block_bytes();
  }

  /// `query` is one row of parameters().type in stored form, at any alignment.
  void prepare(const void* query, NeighborQuery& out) const;

  /// A Block is a block of a vertex's neighbours.
  struct Block {
    const std::byte* codes = nullptr;  ///< the bytes that a NeighborEncoder wrote for the vertex
    std::uint32_t number = 0;
    float distance = 0;  ///< exact distance of the vertex
    float bound = 0;     ///< only neighbours nearer than this matter
  };

  /// Sets out[i] to the estimated distance of the query to neighbour i of the block, for all
  /// kScanBlock of them. Bit i of the result is set where the estimate is below the bound. Values
  /// after the last neighbour are meaningless. All processors give the same bits.
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
