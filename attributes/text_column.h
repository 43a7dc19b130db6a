// A TextColumn is a column of strings: it has a dictionary, and the code of each row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attributes/condition.h"
#include "attributes/dictionary.h"
#include "attributes/packed_keys.h"
#include "attributes/row_bitmap.h"

namespace farvec::attributes {

class TextColumn {
 public:
  /// Takes the string of each row. Those of `nulls` do not count.
  TextColumn(std::span<const std::string_view> texts, const RowBitmap& nulls);

  /// Return the rows for which the test is true. Rows that are null may be among them. `within` is
  /// as for PackedKeys.
  RowBitmap rows_where(const TextTest& test, const RowBitmap* within) const;
  RowBitmap rows_where(const TextRangeTest& test, const RowBitmap* within) const;
  RowBitmap rows_where(const PrefixTest& test, const RowBitmap* within) const;
  std::size_t dram_bytes() const { return dictionary_.dram_bytes() + codes_.dram_bytes(); }

 private:
  /// Returns the rows whose codes are from `begin` to before `end`.
  RowBitmap rows_between(std::uint32_t begin, std::uint32_t end, const RowBitmap* within) const;

  Dictionary dictionary_;
  PackedKeys codes_;
};

}  // namespace farvec::attributes
