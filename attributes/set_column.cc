#include "attributes/set_column.h"

#include <algorithm>

namespace farvec::attributes {

SetColumn::SetColumn(std::span<const layout::Labels> labels) {
  DictionaryBuilder builder;
  std::vector<std::vector<std::uint32_t>> rows;
  for (std::uint32_t row = 0; row < labels.size(); ++row) {
    for (std::uint32_t i = 0; i < labels[row].size(); ++i) {
      const std::uint32_t number = builder.number_of(labels[row][i]);
      if (number == rows.size()) rows.emplace_back();
      rows[number].push_back(row);
    }
  }
  dictionary_ = builder.dictionary();
  rows_.resize(rows.size());
  const std::vector<std::uint32_t> codes = builder.codes();
  for (std::size_t number = 0; number < rows.size(); ++number) {
    RowBitmap& bitmap = rows_[codes[number]];
    bitmap.addMany(rows[number].size(), rows[number].data());
    bitmap.runOptimize();
    bitmap.shrinkToFit();
    rows[number] = {};
  }
}

std::vector<const RowBitmap*> SetColumn::bitmaps_of(const LabelTest& test) const {
  std::vector<const RowBitmap*> bitmaps;
  for (const std::string& label : test.labels) {
    if (const auto code = dictionary_.find(label)) bitmaps.push_back(&rows_[*code]);
  }
  return bitmaps;
}

RowBitmap SetColumn::rows_where(const LabelTest& test) const {
  std::vector<const RowBitmap*> bitmaps = bitmaps_of(test);
  if (bitmaps.empty() || (test.all && bitmaps.size() < test.labels.size())) return {};
  if (!test.all) return RowBitmap::fastunion(bitmaps.size(), bitmaps.data());
  std::sort(bitmaps.begin(), bitmaps.end(), [](const RowBitmap* one, const RowBitmap* other) {
    return one->cardinality() < other->cardinality();
  });
  RowBitmap rows = *bitmaps.front();
  for (std::size_t i = 1; i < bitmaps.size() && !rows.isEmpty(); ++i) rows &= *bitmaps[i];
  return rows;
}

std::size_t SetColumn::dram_bytes() const {
  std::size_t bytes = dictionary_.dram_bytes() + rows_.capacity() * sizeof(RowBitmap);
  for (const RowBitmap& rows : rows_) bytes += rows.getSizeInBytes(false);
  return bytes;
}

}  // namespace farvec::attributes
