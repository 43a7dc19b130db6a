// A SetColumn is a column of sets of labels: it has the rows of each label, in a bitmap or a list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "attributes/condition.h"
#include "attributes/dictionary.h"
#include "attributes/row_bitmap.h"
#include "layout/attributes/tuple.h"

namespace farvec::attributes {

class SetColumn {
 public:
  /// Takes the labels of each row; a row that is null has none.
  explicit SetColumn(std::span<const layout::Labels> labels);

  RowBitmap rows_where(const LabelTest& test) const;
  std::size_t dram_bytes() const;

 private:
  /// Keeps the rows of the next label: in a list, where they are at most `most_listed`.
  void keep(std::span<const std::uint32_t> rows, std::size_t most_listed);
  /// The rows of one label: in a bitmap, or else in a list. They are borrowed.
  struct LabelRows {
    const RowBitmap* bitmap = nullptr;
    std::span<const std::uint32_t> list = {};

    std::uint64_t count() const { return bitmap != nullptr ? bitmap->cardinality() : list.size(); }
  };
  LabelRows rows_of(std::uint32_t code) const;
  static RowBitmap bitmap_of(const LabelRows& label);
  /// Returns the rows that any of these labels has.
  static RowBitmap united(std::span<const LabelRows> labels);
  /// Returns the rows that all of these labels have; orders them.
  static RowBitmap common(std::vector<LabelRows>& labels);

  Dictionary dictionary_;
  /// The rows of labels that few have, one label after the other: a bitmap takes ten times their
  /// bytes.
  std::vector<std::uint32_t> lists_;
  /// A label that is in a list has its place there; one with a bitmap has an empty place.
  std::vector<std::uint64_t> list_ends_;
  std::vector<std::uint32_t> bitmap_codes_;  ///< ascending
  std::vector<RowBitmap> bitmaps_;
};

}  // namespace farvec::attributes
