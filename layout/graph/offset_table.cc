#include "layout/graph/offset_table.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/error.h"

namespace farvec::layout {

OffsetTable::OffsetTable(std::span<const std::uint32_t> degrees)
    : storage_(table_bytes(degrees.size())), lines_(storage_.data()), count_(degrees.size()) {
  for (std::size_t first = 0; first < count_; first += kVerticesPerLine) {
    const std::size_t length = std::min(kVerticesPerLine, count_ - first);
    fill_line(storage_.data() + first / kVerticesPerLine * kCacheLineBytes,
              degrees.subspan(first, length));
  }
}

OffsetTable::OffsetTable(Bytes bytes, std::size_t count, std::uint32_t max_degree)
    : storage_(std::move(bytes.storage)), count_(count) {
  FARVEC_CHECK(bytes.offset % kCacheLineBytes == 0, "{}", bytes.offset);
  if (storage_.size() != bytes.offset + table_bytes(count)) {
    throw Error("the offset table of {} vertices takes {} bytes, these are {}: rebuild the index",
                count, table_bytes(count),
                storage_.size() - std::min(bytes.offset, storage_.size()));
  }
  lines_ = storage_.data() + bytes.offset;
  for (std::size_t line = 0; line * kVerticesPerLine < count; ++line) check_line(line, max_degree);
}

void OffsetTable::fill_line(std::byte* address, std::span<const std::uint32_t> degrees) {
  store_unaligned(address, total_edges_);
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < kVerticesPerLine; ++i) {
    const std::uint32_t degree = i < degrees.size() ? degrees[i] : 0;
    if (degree > kMaxDegree) {
      throw Error("a vertex has {} neighbours; the offset table holds at most {}: lower the degree",
                  degree, kMaxDegree);
    }
    sum += degree;
    store_unaligned(address + 8 + 2 * i, static_cast<std::uint16_t>(sum));
  }
  total_edges_ += sum;
}

void OffsetTable::check_line(std::size_t line, std::uint32_t max_degree) {
  const std::byte* const address = lines_ + line * kCacheLineBytes;
  bool good = load_unaligned<std::uint64_t>(address) == total_edges_ && total_edges_ <= kBaseMask;
  std::uint16_t before = 0;
  for (std::size_t i = 0; i < kVerticesPerLine; ++i) {
    const auto after = load_unaligned<std::uint16_t>(address + 8 + 2 * i);
    const std::uint32_t limit = line * kVerticesPerLine + i < count_ ? max_degree : 0;
    good = good && after >= before && static_cast<std::uint32_t>(after - before) <= limit;
    before = after;
  }
  if (!good) {
    throw Error("line {} of the offset table does not follow from the one before: damaged", line);
  }
  total_edges_ += before;
}

}  // namespace farvec::layout
