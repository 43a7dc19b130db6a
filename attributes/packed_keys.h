// PackedKeys hold a key for each row, in as few bytes as their range needs, with the bounds of
// every block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
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

  /// Returns the rows that have one of these keys. Rows that are null may be among them. Where few
  /// rows are `within`, only these are looked at; null: all are.
  RowBitmap rows_with(const KeyRanges& keys, const RowBitmap* within = nullptr) const;
  std::size_t dram_bytes() const;

 private:
  /// Empty where all rows have one key.
  using Words = std::variant<std::vector<std::uint8_t>, std::vector<std::uint16_t>,
                             std::vector<std::uint32_t>, std::vector<std::uint64_t>>;

  RowBitmap rows_among(const KeyRanges& keys, const RowBitmap& rows) const;
  std::vector<KeyRange> bounds_of(std::span<const std::uint64_t> keys,
                                  const RowBitmap& nulls) const;

  /// The bounds of rows that are all null.
  static constexpr KeyRange kNoKeys{std::numeric_limits<std::uint64_t>::max(), 0};

  std::uint32_t rows_ = 0;
  KeyRange all_ = kNoKeys;        ///< least and greatest key
  Words words_;                   ///< key minus the least one, for each row
  std::vector<KeyRange> blocks_;  ///< least and greatest key of each
};

}  // namespace farvec::attributes
