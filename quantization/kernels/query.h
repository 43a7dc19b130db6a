// What is done to a query once, before codes are compared with it, one file per instruction set:
// all of them give the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "distance/isa.h"

namespace farvec::quantization {

/// The steps of Rotation::apply().
struct RotationSteps {
  const float* factors = nullptr;  ///< `rounds` times `dimension`
  std::uint32_t dimension = 0;
  std::uint32_t block = 0;  ///< a power of two, at most `dimension`
  std::uint32_t rounds = 0;
};

/// Quantised values and what they add up to.
struct DigitSums {
  std::int32_t coarse = 0;
  std::int32_t fine = 0;
};

struct QueryKernels {
  /// In place.
  void (*rotate)(const RotationSteps& steps, float* vector);
  /// The largest magnitude; NaN or infinite when there is one of these.
  float (*largest)(const float* values, std::size_t count);
  /// Every value times `per_unit`, rounded to the nearest (of two, the even) integer: into
  /// `coarse`, or, when `fine` is not null, as coarse * 128 + fine with fine from -64 to 63. What
  /// is beyond `top` by half a unit or more, or no number, is 0.
  DigitSums (*digits)(const float* values, std::size_t count, float per_unit, float top,
                      std::int8_t* coarse, std::int8_t* fine);
};

extern const QueryKernels kPortableQueryKernels;
#if defined(__x86_64__)
extern const QueryKernels kAvx2QueryKernels;
extern const QueryKernels kAvx512QueryKernels;
#endif

/// The best ones within `isa`.
const QueryKernels& select_query_kernels(distance::Isa isa);

}  // namespace farvec::quantization
