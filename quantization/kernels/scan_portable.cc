// This file is the oracle of the other scans, and the code for processors that have no scan of
// their own.
#include "base/memory.h"
#include "quantization/kernels/scan.h"

namespace farvec::quantization {
namespace {

std::int32_t sum_of(const ScanShape& shape, const ScanQuery& query, const std::uint8_t* block,
                    std::uint32_t neighbor) {
  std::int32_t sum = 0;
  for (std::uint32_t plane = 0; plane < shape.bits; ++plane) {
    sum *= 2;
    const std::uint8_t* columns = block + std::size_t{plane} * shape.plane_bytes();
    for (std::uint32_t c = 0; c < shape.columns; ++c) {
      const std::uint8_t both = columns[c * ScanShape::kColumnBytes + neighbor % 16];
      sum += query.tables[c * 16 + (neighbor < 16 ? both & 15 : both >> 4)];
    }
  }
  return sum;
}

}  // namespace

std::uint32_t portable_scan(const ScanShape& shape, const ScanQuery& query,
                            const std::uint8_t* block, float* out) {
  const std::uint8_t* adds = block + shape.code_bytes();
  const std::uint8_t* rescales = adds + kScanBlock * sizeof(std::uint16_t);
  std::uint32_t below = 0;
  for (std::uint32_t i = 0; i < kScanBlock; ++i) {
    const auto sum = static_cast<float>(sum_of(shape, query, block, i));
    const auto add = static_cast<float>(load_unaligned<std::uint16_t>(adds + 2 * i));
    const auto rescale = static_cast<float>(load_unaligned<std::uint16_t>(rescales + 2 * i));
    out[i] = (query.base + query.add_scale * add) -
             (query.rescale_base + query.rescale_scale * rescale) * (sum - query.bias);
    below |= (out[i] < query.bound ? 1u : 0u) << i;
  }
  return below;
}

}  // namespace farvec::quantization
