// Defines what the vector kernels share: four records at a time, and codes of several planes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "quantization/kernels/kernel.h"

namespace farvec::quantization {

inline constexpr std::size_t kGroup = 4;

struct RecordGroup {
  const std::uint8_t* code[kGroup];
};

/// Simd is local to its file, so that code compiled for one instruction set is never linked into
/// another's code. It has a register type Sum of 32-bit integers and static members:
///   Sum zero();
///   Sum shift<width>(Sum);                                        every integer times 2^width
///   void add<width>(const Plane&, const RecordGroup&, const std::int8_t* query, Sum sums[kGroup]);
///   void store(const Sum sums[kGroup], std::size_t count, std::int32_t* out);     lane totals
template <typename Simd>
struct Grouped {
  using Sum = typename Simd::Sum;

  /// Calls add_planes(records, sums) for each group; a last group of fewer records repeats its last
  /// record.
  template <typename AddPlanes>
  static void run(const CodeShape& shape, const DotBatch& batch, const AddPlanes& add_planes) {
    for (std::size_t begin = 0; begin < batch.count; begin += kGroup) {
      const std::size_t count = batch.count - begin < kGroup ? batch.count - begin : kGroup;
      RecordGroup records;
#pragma GCC unroll 4
      for (std::size_t r = 0; r < kGroup; ++r) {
        const std::size_t id = batch.ids[begin + (r < count ? r : count - 1)];
        records.code[r] =
            reinterpret_cast<const std::uint8_t*>(batch.records) + id * shape.record_bytes();
      }
      Sum sums[kGroup] = {Simd::zero(), Simd::zero(), Simd::zero(), Simd::zero()};
      add_planes(records, sums);
      Simd::store(sums, count, batch.dots + begin);
      for (std::size_t r = 0; r < count; ++r) {
        __builtin_memcpy(batch.factors + begin + r, records.code[r] + shape.code_bytes, 4);
      }
    }
  }

  /// Handles codes of one plane.
  template <int width>
  static void one_plane(const CodeShape& shape, const DotBatch& batch) {
    const Plane plane = shape.planes[0];
    run(shape, batch, [&](const RecordGroup& records, Sum* sums) {
      Simd::template add<width>(plane, records, batch.query, sums);
    });
  }

  /// Handles codes of 3, 5, 6 and 7 bits: each plane first doubles the sums of the wider planes,
  /// once per bit.
  static void all_planes(const CodeShape& shape, const DotBatch& batch) {
    run(shape, batch, [&](const RecordGroup& records, Sum* sums) {
      const std::int8_t* query = batch.query;
      for (std::uint32_t p = 0; p < shape.plane_count; ++p) {
        const Plane& plane = shape.planes[p];
        if (plane.width == 4) append<4>(plane, records, query, sums);
        if (plane.width == 2) append<2>(plane, records, query, sums);
        if (plane.width == 1) append<1>(plane, records, query, sums);
        query += plane.query_bytes();
      }
    });
  }

  static DotKernel kernel(std::uint32_t bits) {
    switch (bits) {
      case 1:
        return one_plane<1>;
      case 2:
        return one_plane<2>;
      case 4:
        return one_plane<4>;
      case 8:
        return one_plane<8>;
      default:
        return all_planes;
    }
  }

 private:
  template <int width>
  static void append(const Plane& plane, const RecordGroup& records, const std::int8_t* query,
                     Sum* sums) {
#pragma GCC unroll 4
    for (std::size_t r = 0; r < kGroup; ++r) sums[r] = Simd::template shift<width>(sums[r]);
    Simd::template add<width>(plane, records, query, sums);
  }
};

}  // namespace farvec::quantization
