// An Encoder turns a rotated residual into its code: the data side of extended RaBitQ.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "quantization/code_shape.h"

namespace farvec::quantization {

/// Relates a code to its residual r. The code's vector is x = levels - (2^bits - 1) / 2.
struct CodeFit {
  double norm2 = 0;       ///< |r|^2
  double code_norm2 = 0;  ///< |x|^2
  double product = 0;     ///< <r, x>, positive unless r = 0
};

/// Scratch and result of encoding one residual; each thread needs its own.
class Encoder {
 public:
  explicit Encoder(const CodeShape& shape);

  /// Chooses the levels whose direction is nearest to that of the rotated residual r (`dimension`
  /// floats).
  CodeFit fit(const float* r);

  /// Returns the levels of the last fit(), one per dimension, below 2^bits.
  std::span<const std::uint8_t> levels() const { return {levels_.data(), shape_.dimension}; }

  /// Writes the lowest shape.bits bits of the last fit()'s levels into planes of `shape`, which has
  /// the encoder's dimension: shape.code_bytes bytes.
  void pack(const CodeShape& shape, std::uint8_t* record) const;

 private:
  float best_scale(double norm2) const;

  void set_levels(const float* r, float scale);

  const CodeShape shape_;
  const float top_;  ///< largest level of a magnitude
  std::vector<float> magnitudes_;
  std::vector<std::uint8_t> levels_;
};

}  // namespace farvec::quantization
