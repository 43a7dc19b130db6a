// This file uses AVX-512 with VNNI: u8 digits times s8 query values, four records at a time.
#include <immintrin.h>

#include "base/memory.h"
#include "quantization/kernels/grouped.h"
#include "quantization/kernels/single.h"

namespace farvec::quantization {
namespace {

/// Says how 64-byte registers cover a plane of `width` bits whose groups repeat `copies` times in
/// one register: a plane of at most 16 (32) bytes is broadcast 4 (2) times, and each copy brings
/// another group to the bottom of its bytes.
template <int width, int copies>
struct Cover {
  static constexpr int kLoadBytes = 64 / copies;
  static constexpr int kSteps = 8 / width > copies ? 8 / width / copies : 1;

  static __m512i load(const std::uint8_t* p) {
    if constexpr (copies == 4) {
      return _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
    } else if constexpr (copies == 2) {
      return _mm512_broadcast_i64x4(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
    } else {
      return _mm512_loadu_si512(p);
    }
  }

  static __m512i load_first(const std::uint8_t* p, std::uint32_t bytes) {
    const std::uint64_t mask = ~std::uint64_t{0} >> (64 - bytes);
    if constexpr (copies == 4) {
      return _mm512_broadcast_i32x4(_mm_maskz_loadu_epi8(static_cast<__mmask16>(mask), p));
    } else if constexpr (copies == 2) {
      return _mm512_broadcast_i64x4(_mm256_maskz_loadu_epi8(static_cast<__mmask32>(mask), p));
    } else {
      return _mm512_maskz_loadu_epi8(mask, p);
    }
  }

  /// The digits of the groups step * copies + copy.
  static __m512i digits(__m512i bytes, int step) {
    if constexpr (width == 8) return bytes;
    const int first = step * copies * width;
    const auto shift = [&](int quarter) {
      return (first + quarter * copies / 4 * width) * 0x0001000100010001LL;
    };
    const long long a = shift(0), b = shift(1), c = shift(2), d = shift(3);
    const __m512i shifts = _mm512_set_epi64(d, d, c, c, b, b, a, a);
    return _mm512_and_si512(_mm512_srlv_epi16(bytes, shifts),
                            _mm512_set1_epi8(static_cast<char>((1 << width) - 1)));
  }
};

inline int copies_of(const Plane& plane) {
  return plane.query_stride() < 64 ? static_cast<int>(64 / plane.query_stride()) : 1;
}

template <int width, int copies>
inline void add_block(const __m512i* bytes, const std::int8_t* query, std::size_t stride,
                      __m512i* sums) {
  using C = Cover<width, copies>;
#pragma GCC unroll 8
  for (int step = 0; step < C::kSteps; ++step) {
    const __m512i values = _mm512_load_si512(query + std::size_t(step) * stride);
#pragma GCC unroll 4
    for (std::size_t r = 0; r < kGroup; ++r) {
      sums[r] = _mm512_dpbusd_epi32(sums[r], C::digits(bytes[r], step), values);
    }
  }
}

template <int width, int copies, bool masked>
inline void add_plane(const Plane& plane, const RecordGroup& records, const std::int8_t* query,
                      __m512i* sums) {
  using C = Cover<width, copies>;
  const std::size_t stride = copies == 1 ? plane.query_stride() : 64;
  __m512i bytes[kGroup];
  std::uint32_t done = 0;
  for (; done + (masked ? C::kLoadBytes - 1 : 0) < plane.bytes; done += C::kLoadBytes) {
#pragma GCC unroll 4
    for (std::size_t r = 0; r < kGroup; ++r) {
      bytes[r] = C::load(records.code[r] + plane.offset + done);
    }
    add_block<width, copies>(bytes, query + done, stride, sums);
  }
  if (!masked || done == plane.bytes) return;
#pragma GCC unroll 4
  for (std::size_t r = 0; r < kGroup; ++r) {
    bytes[r] = C::load_first(records.code[r] + plane.offset + done, plane.bytes - done);
  }
  add_block<width, copies>(bytes, query + done, stride, sums);
}

/// Adds up the 16 lanes of each of four registers.
inline __m128i lane_totals(const __m512i* s) {
  const __m512i ab =
      _mm512_add_epi32(_mm512_unpacklo_epi32(s[0], s[1]), _mm512_unpackhi_epi32(s[0], s[1]));
  const __m512i cd =
      _mm512_add_epi32(_mm512_unpacklo_epi32(s[2], s[3]), _mm512_unpackhi_epi32(s[2], s[3]));
  const __m512i abcd =
      _mm512_add_epi32(_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd));
  const __m256i half =
      _mm256_add_epi32(_mm512_castsi512_si256(abcd), _mm512_extracti64x4_epi64(abcd, 1));
  return _mm_add_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
}

struct Avx512 {
  using Sum = __m512i;

  static Sum zero() { return _mm512_setzero_si512(); }

  template <int width>
  static Sum shift(Sum sum) {
    return _mm512_slli_epi32(sum, width);
  }

  template <int width>
  static void add(const Plane& plane, const RecordGroup& records, const std::int8_t* query,
                  Sum* sums) {
    switch (copies_of(plane)) {
      case 4:
        return add_plane<width, 4, true>(plane, records, query, sums);
      case 2:
        return add_plane<width, 2, true>(plane, records, query, sums);
      default:
        return add_plane<width, 1, true>(plane, records, query, sums);
    }
  }

  static void store(const Sum* sums, std::size_t count, std::int32_t* out) {
    const auto mask = static_cast<__mmask8>((1u << count) - 1);
    _mm_mask_storeu_epi32(out, mask, lane_totals(sums));
  }
};

/// Handles codes of one plane, with the cover chosen once: the switch of Avx512::add costs half as
/// much again at 784 dimensions.
template <int width, int copies, bool masked>
void dot_one_plane(const CodeShape& shape, const DotBatch& batch) {
  const Plane plane = shape.planes[0];
  Grouped<Avx512>::run(shape, batch, [&](const RecordGroup& records, __m512i* sums) {
    add_plane<width, copies, masked>(plane, records, batch.query, sums);
  });
}

/// Whether whole registers can be loaded, because they do not reach beyond the record.
template <int width, int copies>
DotKernel one_plane_kernel(const CodeShape& shape) {
  const std::size_t reach = round_up(shape.planes[0].bytes, Cover<width, copies>::kLoadBytes);
  return reach > shape.record_bytes() ? dot_one_plane<width, copies, true>
                                      : dot_one_plane<width, copies, false>;
}

template <int width>
DotKernel one_plane_kernel(const CodeShape& shape) {
  switch (copies_of(shape.planes[0])) {
    case 4:
      return one_plane_kernel<width, 4>(shape);
    case 2:
      return one_plane_kernel<width, 2>(shape);
    default:
      return one_plane_kernel<width, 1>(shape);
  }
}

/// Two running sums for each level of the query, so that additions need not wait for each other.
struct SingleSums {
  __m512i coarse[2] = {_mm512_setzero_si512(), _mm512_setzero_si512()};
  __m512i fine[2] = {_mm512_setzero_si512(), _mm512_setzero_si512()};
};

template <int width>
inline void append_single(const Plane& plane, const SingleDot& dot, SingleSums& sums) {
  const std::size_t stride = plane.query_stride();
  const __m512i digit = _mm512_set1_epi8(static_cast<char>((1 << width) - 1));
  for (int half = 0; half < 2; ++half) {
    sums.coarse[half] = _mm512_slli_epi32(sums.coarse[half], width);
    sums.fine[half] = _mm512_slli_epi32(sums.fine[half], width);
  }
  for (std::uint32_t done = 0; done < plane.bytes; done += 64) {
    const std::uint32_t left = plane.bytes - done;
    const __mmask64 mask = left >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << left) - 1;
    const __m512i bytes = _mm512_maskz_loadu_epi8(mask, dot.code + plane.offset + done);
#pragma GCC unroll 8
    for (int group = 0; group < 8 / width; ++group) {
      const __m512i digits =
          _mm512_and_si512(_mm512_srl_epi16(bytes, _mm_cvtsi32_si128(group * width)), digit);
      const std::size_t at = group * stride + done;
      __m512i& coarse = sums.coarse[group % 2];
      coarse = _mm512_dpbusd_epi32(coarse, digits, _mm512_maskz_loadu_epi8(mask, dot.coarse + at));
      if (dot.fine == nullptr) continue;
      __m512i& fine = sums.fine[group % 2];
      fine = _mm512_dpbusd_epi32(fine, digits, _mm512_maskz_loadu_epi8(mask, dot.fine + at));
    }
  }
}

}  // namespace

DotPair avx512_single_dot(const CodeShape& shape, const SingleDot& dot) {
  SingleSums sums;
  SingleDot rest = dot;
  for (std::uint32_t p = 0; p < shape.plane_count; ++p) {
    const Plane& plane = shape.planes[p];
    if (plane.width == 8) append_single<8>(plane, rest, sums);
    if (plane.width == 4) append_single<4>(plane, rest, sums);
    if (plane.width == 2) append_single<2>(plane, rest, sums);
    if (plane.width == 1) append_single<1>(plane, rest, sums);
    rest.coarse += plane.query_bytes();
    if (rest.fine != nullptr) rest.fine += plane.query_bytes();
  }
  return {_mm512_reduce_add_epi32(_mm512_add_epi32(sums.coarse[0], sums.coarse[1])),
          _mm512_reduce_add_epi32(_mm512_add_epi32(sums.fine[0], sums.fine[1]))};
}

DotKernel avx512_dot_kernel(const CodeShape& shape) {
  switch (shape.bits) {
    case 1:
      return one_plane_kernel<1>(shape);
    case 2:
      return one_plane_kernel<2>(shape);
    case 4:
      return one_plane_kernel<4>(shape);
    case 8:
      return one_plane_kernel<8>(shape);
    default:
      return Grouped<Avx512>::all_planes;
  }
}

}  // namespace farvec::quantization
