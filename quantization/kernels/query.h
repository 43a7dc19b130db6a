// These kernels do what is done once to a query, before codes are compared with it, one file per
// instruction set. All of them give the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "distance/isa.h"

namespace farvec::quantization {

/// RotationSteps are the steps of Rotation::apply().
struct RotationSteps {
  const float* factors = nullptr;  ///< `rounds` times `dimension`
  std::uint32_t dimension = 0;
  std::uint32_t block = 0;  ///< a power of two, at most `dimension`
  std::uint32_t rounds = 0;
};

/// DigitSums are the sums of quantised values.
struct DigitSums {
  std::int32_t coarse = 0;
  std::int32_t fine = 0;
};

struct QueryKernels {
  /// Rotates in place.
  void (*rotate)(const RotationSteps& steps, float* vector);
  /// Returns the largest magnitude; NaN or infinite when one of the values is.
  float (*largest)(const float* values, std::size_t count);
  /// Multiplies every value by `per_unit` and rounds it to the nearest (of two, the even) integer.
  /// The integer goes into `coarse` or, when `fine` is not null, is coarse * 128 + fine with fine
  /// from -64 to 63. A value that is beyond `top` by half a unit or more, or is not a number,
  /// becomes 0.
  DigitSums (*digits)(const float* values, std::size_t count, float per_unit, float top,
                      std::int8_t* coarse, std::int8_t* fine);
};

extern const QueryKernels kPortableQueryKernels;
#if defined(__x86_64__)
extern const QueryKernels kAvx2QueryKernels;
extern const QueryKernels kAvx512QueryKernels;
#endif

/// Returns the best kernels within `isa`.
const QueryKernels& select_query_kernels(distance::Isa isa);

}  // namespace farvec::quantization
