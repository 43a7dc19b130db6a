// A Rotation is a seeded random rotation in O(d log d), for any dimension.
#pragma once

#include <cstdint>
#include <vector>

namespace farvec::quantization {

struct QueryKernels;

/// It is an orthonormal map of R^d: kRounds times, it flips signs at random and applies a fast
/// Hadamard transform. When d is not a power of two, the transform covers the leading and the
/// trailing power-of-two block in turn, and each round ends with a butterfly between the two halves
/// of the vector (a step of Kac's walk), so that every output depends on every input. The same
/// dimension and seed give the same map, to the bit, on every processor. Immutable; any thread may
/// use it.
class Rotation {
 public:
  Rotation(std::uint32_t dimension, std::uint64_t seed);

  std::uint32_t dimension() const { return dimension_; }

  /// Rotates the `dimension` floats of `vector` in place.
  void apply(float* vector) const;

  /// Returns the kernels for the other steps that prepare a query.
  const QueryKernels& kernels() const { return *kernels_; }

 private:
  static constexpr std::uint32_t kRounds = 4;

  std::uint32_t dimension_;
  std::uint32_t block_;  ///< largest power of two not above dimension_
  const QueryKernels* kernels_;
  std::vector<float> factors_;  ///< per round and dimension: the sign, times the block's scale
};

}  // namespace farvec::quantization
