// Kernels compute inner products of codes with a quantised query, in exact integers, one file per
// instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/types.h"
#include "distance/distance.h"
#include "quantization/code_shape.h"

namespace farvec::quantization {

/// A DotBatch is one call of a kernel. `query` is 64-byte aligned and holds shape.query_bytes():
/// for each plane and group the 8-bit values of its dimensions, zero where the plane holds no
/// dimension.
struct DotBatch {
  const std::int8_t* query = nullptr;
  const std::byte* records = nullptr;
  const NodeId* ids = nullptr;
  std::size_t count = 0;
  std::int32_t* dots = nullptr;      ///< out: <code, query> per id
  std::uint32_t* factors = nullptr;  ///< out: the record's factor word per id
};

/// It reads no byte outside of the records that `ids` name.
using DotKernel = void (*)(const CodeShape& shape, const DotBatch& batch);

DotKernel portable_dot_kernel(const CodeShape& shape);
#if defined(__x86_64__)
DotKernel avx2_dot_kernel(const CodeShape& shape);
DotKernel avx512_dot_kernel(const CodeShape& shape);  ///< also needs VNNI
#elif defined(__aarch64__)
DotKernel neon_dot_kernel(const CodeShape& shape);
#endif

/// Returns the best kernel for this shape within `isa`.
DotKernel select_dot_kernel(const CodeShape& shape, distance::Isa isa);

}  // namespace farvec::quantization
