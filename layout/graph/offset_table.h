// An OffsetTable is the compressed offset table of a graph: where a vertex's neighbours begin, and
// how long they are. It counts the unit of the layout: ids, or bytes of lists.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/memory.h"
#include "base/types.h"

namespace farvec::layout {

/// Twenty-eight vertices share one cache line: 64 bits with the sum of the lengths before the first
/// of them, then the running sum of lengths after each of them in 16 bits. That is 64 / 28 = 2.29
/// bytes per vertex, and a look-up touches one line. Immutable once built; shared by all threads.
class OffsetTable {
 public:
  static constexpr std::size_t kVerticesPerLine = 28;
  /// Twenty-eight lengths of this size still fit the 16-bit sum.
  static constexpr std::uint32_t kMostLength = 65535 / kVerticesPerLine;

  struct Run {
    std::uint64_t first = 0;  ///< sum of the lengths of all vertices before this one
    std::uint32_t length = 0;
  };

  OffsetTable() = default;
  /// Throws Error when a length exceeds kMostLength.
  explicit OffsetTable(std::span<const std::uint32_t> lengths);
  /// Takes over `storage`, in which bytes() of a table of `count` vertices begin at `offset`, a
  /// multiple of 64. Throws Error when they do not end where `storage` ends, or are not a table in
  /// which every length is at most `most`.
  struct Bytes {
    HugeBuffer storage;
    std::size_t offset = 0;
  };
  OffsetTable(Bytes bytes, std::size_t count, std::uint32_t most);

  /// Needs id < count(), which is not checked.
  Run find(NodeId id) const {
    const std::size_t line = id / kVerticesPerLine;
    const std::byte* const address = lines_ + line * kCacheLineBytes;
    // Sum number i is at byte 8 + 2 i. The base fits 48 bits, so its own top 16 bits are zero and
    // serve as the sum before the first vertex: one 32-bit load gives both ends, without a branch.
    const auto within = id - static_cast<NodeId>(line * kVerticesPerLine);
    const auto sums = load_unaligned<std::uint32_t>(address + 6 + 2 * std::size_t{within});
    const std::uint32_t before = sums & 0xffffu;
    return {(load_unaligned<std::uint64_t>(address) & kBaseMask) + before, (sums >> 16) - before};
  }

  void prefetch(NodeId id) const {
    prefetch_line(lines_ + id / kVerticesPerLine * kCacheLineBytes);
  }

  std::size_t count() const { return count_; }
  std::uint64_t total() const { return total_; }
  std::span<const std::byte> bytes() const { return {lines_, table_bytes(count_)}; }

  static constexpr std::size_t table_bytes(std::size_t count) {
    return round_up(count, kVerticesPerLine) / kVerticesPerLine * kCacheLineBytes;
  }

 private:
  static constexpr std::uint64_t kBaseMask = (std::uint64_t{1} << 48) - 1;

  void fill_line(std::byte* address, std::span<const std::uint32_t> lengths);
  void check_line(std::size_t line, std::uint32_t most);

  HugeBuffer storage_;
  const std::byte* lines_ = nullptr;  ///< in storage_
  std::size_t count_ = 0;
  std::uint64_t total_ = 0;
};

}  // namespace farvec::layout
