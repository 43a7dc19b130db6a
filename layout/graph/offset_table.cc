#include "layout/graph/offset_table.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/error.h"

namespace farvec::layout {

OffsetTable::OffsetTable(std::span<const std::uint32_t> lengths)
    : storage_(table_bytes(lengths.size())), lines_(storage_.data()), count_(lengths.size()) {
  for (std::size_t first = 0; first < count_; first += kVerticesPerLine) {
    const std::size_t length = std::min(kVerticesPerLine, count_ - first);
    fill_line(storage_.data() + first / kVerticesPerLine * kCacheLineBytes,
              lengths.subspan(first, length));
  }
}

OffsetTable::OffsetTable(Bytes bytes, std::size_t count, std::uint32_t most)
    : storage_(std::move(bytes.storage)), count_(count) {
  FARVEC_CHECK(bytes.offset % kCacheLineBytes == 0, "{}", bytes.offset);
  if (storage_.size() != bytes.offset + table_bytes(count)) {
    throw Error("the offset table of {} vertices takes {} bytes, these are {}: rebuild the index",
                count, table_bytes(count),
                storage_.size() - std::min(bytes.offset, storage_.size()));
  }
  lines_ = storage_.data() + bytes.offset;
  for (std::size_t line = 0; line * kVerticesPerLine < count; ++line) check_line(line, most);
}

void OffsetTable::fill_line(std::byte* address, std::span<const std::uint32_t> lengths) {
  store_unaligned(address, total_);
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < kVerticesPerLine; ++i) {
    const std::uint32_t length = i < lengths.size() ? lengths[i] : 0;
    if (length > kMostLength) {
      throw Error(
          "a vertex's neighbours take {}; the offset table holds at most {}: lower the degree",
          length, kMostLength);
    }
    sum += length;
    store_unaligned(address + 8 + 2 * i, static_cast<std::uint16_t>(sum));
  }
  total_ += sum;
}

void OffsetTable::check_line(std::size_t line, std::uint32_t most) {
  const std::byte* const address = lines_ + line * kCacheLineBytes;
  bool good = load_unaligned<std::uint64_t>(address) == total_ && total_ <= kBaseMask;
  std::uint16_t before = 0;
  for (std::size_t i = 0; i < kVerticesPerLine; ++i) {
    const auto after = load_unaligned<std::uint16_t>(address + 8 + 2 * i);
    const std::uint32_t limit = line * kVerticesPerLine + i < count_ ? most : 0;
    good = good && after >= before && static_cast<std::uint32_t>(after - before) <= limit;
    before = after;
  }
  if (!good) {
    throw Error("line {} of the offset table does not follow from the one before: damaged", line);
  }
  total_ += before;
}

}  // namespace farvec::layout
