// These kernels compute the dot product of one code, at any address, with both levels of a
// quantised query.
#pragma once

#include <cstdint>

#include "distance/distance.h"
#include "quantization/code_shape.h"

namespace farvec::quantization {

/// `coarse` and `fine` have the layout of DotBatch::query, at any alignment.
struct SingleDot {
  const std::uint8_t* code = nullptr;  ///< shape.code_bytes, unaligned; not a byte more is read
  const std::int8_t* coarse = nullptr;
  const std::int8_t* fine = nullptr;  ///< null: not needed
};

struct DotPair {
  std::int32_t coarse = 0;
  std::int32_t fine = 0;
};

using SingleDotKernel = DotPair (*)(const CodeShape& shape, const SingleDot& dot);

DotPair portable_single_dot(const CodeShape& shape, const SingleDot& dot);
#if defined(__x86_64__)
DotPair avx2_single_dot(const CodeShape& shape, const SingleDot& dot);
DotPair avx512_single_dot(const CodeShape& shape, const SingleDot& dot);  ///< also needs VNNI
#endif

/// Returns the best kernel within `isa`.
SingleDotKernel select_single_dot(distance::Isa isa);

}  // namespace farvec::quantization
