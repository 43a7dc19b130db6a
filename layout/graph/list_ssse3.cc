// Decodes four differences at once: a shuffle spreads their bytes, two shifted additions sum them
// up.
#if defined(__x86_64__)
#include <tmmintrin.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "layout/graph/list_kernel.h"

namespace farvec::layout {
namespace {

struct Tables {
  std::array<std::array<std::uint8_t, 16>, 256> shuffles{};
  std::array<std::uint8_t, 256> bytes{};
};

constexpr Tables make_tables() {
  Tables tables;
  for (std::size_t control = 0; control < 256; ++control) {
    std::uint8_t from = 0;
    for (std::size_t value = 0; value < 4; ++value) {
      const std::size_t length = 1 + (control >> (2 * value) & 3);
      for (std::size_t b = 0; b < 4; ++b) {
        const bool used = b < length;
        tables.shuffles[control][4 * value + b] = used ? from : std::uint8_t{0x80};
        if (used) ++from;
      }
    }
    tables.bytes[control] = from;
  }
  return tables;
}

alignas(64) constexpr Tables kTables = make_tables();

inline __m128i load(const void* address) {
  return _mm_loadu_si128(static_cast<const __m128i*>(address));
}

/// The ids of the group that follows the id in every lane of `before`.
inline __m128i decode_group(const std::byte* data, std::size_t control, __m128i before) {
  const __m128i shuffle = load(kTables.shuffles[control].data());
  __m128i ids = _mm_shuffle_epi8(load(data), shuffle);
  ids = _mm_add_epi32(ids, _mm_slli_si128(ids, 4));
  ids = _mm_add_epi32(ids, _mm_slli_si128(ids, 8));
  return _mm_add_epi32(ids, before);
}

}  // namespace

bool decode_list_ssse3(const EncodedList& list, NodeId* out) {
  const std::size_t groups = (std::size_t{list.degree} + 3) / 4;
  if (groups > list.bytes) return false;
  const auto* controls = reinterpret_cast<const std::uint8_t*>(list.begin);
  const std::byte* data = list.begin + groups;
  const std::byte* const end = list.begin + list.bytes;
  const std::byte* const readable_end = list.begin + list.readable;
  __m128i before = _mm_setzero_si128();
  std::byte last[16];
  for (std::size_t group = 0; group < groups; ++group) {
    const std::byte* from = data;
    if (readable_end - data < 16) [[unlikely]] {
      if (data > end) return false;
      __builtin_memset(last, 0, sizeof(last));
      __builtin_memcpy(last, data, static_cast<std::size_t>(readable_end - data));
      from = last;
    }
    const __m128i ids = decode_group(from, controls[group], before);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 4 * group), ids);
    before = _mm_shuffle_epi32(ids, 0xff);
    data += kTables.bytes[controls[group]];
  }
  // The control byte of the last group counts one byte for each id that the group does not have.
  const std::size_t missing = 4 * groups - list.degree;
  if (groups > 0 && controls[groups - 1] >> (8 - 2 * missing) != 0) return false;
  return data == end + missing;
}

}  // namespace farvec::layout
#endif
