// PackedKeys hold a key for each row, in as few bytes as their range needs, with the bounds of
// every block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "attributes/key_ranges.h"
#include "attributes/row_bitmap.h"

namespace farvec::attributes {

class PackedKeys {
 public:
  static constexpr std::uint32_t kBlockRows = 4096;

  PackedKeys() = default;
  /// Takes the key of each row. Those of `nulls` do not count.
  PackedKeys(std::span<const std::uint64_t> keys, const RowBitmap& nulls);

  /// Returns the rows that have one of these keys. Rows that are null may be among them.
  RowBitmap rows_with(const KeyRanges& keys) const;
  std::size_t dram_bytes() const;

 private:
  /// Empty where least_ is the key of all rows.
  using Words = std::variant<std::vector<std::uint8_t>, std::vector<std::uint16_t>,
                             std::vector<std::uint32_t>, std::vector<std::uint64_t>>;

  std::vector<KeyRange> bounds_of(std::span<const std::uint64_t> keys,
                                  const RowBitmap& nulls) const;

  std::uint32_t rows_ = 0;
  std::uint64_t least_ = 0;
  Words words_;                   ///< key minus least_, for each row
  std::vector<KeyRange> blocks_;  ///< least and greatest key; the first is larger: all are null
};

}  // namespace farvec::attributes
