// This file is the oracle of the other kernels, and the code for processors that have no kernel of
// their own.
#include "base/memory.h"
#include "quantization/kernels/kernel.h"
#include "quantization/kernels/single.h"

namespace farvec::quantization {
namespace {

std::int32_t plane_dot(const Plane& plane, const std::uint8_t* code, const std::int8_t* query) {
  std::int32_t sum = 0;
  for (std::uint32_t group = 0; group < plane.groups(); ++group) {
    const std::int8_t* values = query + std::size_t{group} * plane.query_stride();
    const std::uint32_t shift = group * plane.width, mask = plane.mask();
    for (std::uint32_t j = 0; j < plane.bytes; ++j) {
      sum += static_cast<std::int32_t>((code[j] >> shift) & mask) * values[j];
    }
  }
  return sum;
}

std::int32_t code_dot(const CodeShape& shape, const std::uint8_t* code, const std::int8_t* query) {
  std::int32_t sum = 0;
  for (std::uint32_t p = 0; p < shape.plane_count; ++p) {
    const Plane& plane = shape.planes[p];
    sum = sum * (1 << plane.width) + plane_dot(plane, code + plane.offset, query);
    query += plane.query_bytes();
  }
  return sum;
}

void dot(const CodeShape& shape, const DotBatch& batch) {
  for (std::size_t i = 0; i < batch.count; ++i) {
    const std::byte* record = batch.records + batch.ids[i] * shape.record_bytes();
    batch.dots[i] = code_dot(shape, reinterpret_cast<const std::uint8_t*>(record), batch.query);
    batch.factors[i] = load_unaligned<std::uint32_t>(record + shape.code_bytes);
  }
}

}  // namespace

DotKernel portable_dot_kernel(const CodeShape&) {
  return dot;
}

DotPair portable_single_dot(const CodeShape& shape, const SingleDot& dot) {
  return {code_dot(shape, dot.code, dot.coarse),
          dot.fine == nullptr ? 0 : code_dot(shape, dot.code, dot.fine)};
}

}  // namespace farvec::quantization
