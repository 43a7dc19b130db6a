// A SetColumn is a column of sets of labels: it has the rows of each label.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
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
  /// Returns the rows of the labels that there are.
  std::vector<const RowBitmap*> bitmaps_of(const LabelTest& test) const;

  Dictionary dictionary_;
  std::vector<RowBitmap> rows_;  ///< for the label with each code
};

}  // namespace farvec::attributes
