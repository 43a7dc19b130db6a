// Makes four distances of counts with SSE2, which every x86-64 has. Only for the .cc files of this
// folder.
#pragma once

#include <immintrin.h>

#include "distance/kernels/bits/words.h"

namespace farvec::distance::kernels {
namespace {

/// Works like from_counts(), on four numbers of 32 bits each. Where no bit is set in either, both
/// counts become 1.
template <Metric M>
FARVEC_KERNEL void store_distances(__m128i differ, __m128i either, float* out) {
  if constexpr (M == Metric::hamming) {
    _mm_storeu_ps(out, _mm_cvtepi32_ps(differ));
  } else {
    const __m128i none = _mm_cmpeq_epi32(either, _mm_setzero_si128());
    const __m128 numerators = _mm_cvtepi32_ps(_mm_sub_epi32(differ, none));
    _mm_storeu_ps(out, _mm_div_ps(numerators, _mm_cvtepi32_ps(_mm_sub_epi32(either, none))));
  }
}

}  // namespace
}  // namespace farvec::distance::kernels
