#include "attributes/set_column.h"

#include <algorithm>
#include <utility>

namespace farvec::attributes {
namespace {

/// Lists with fewer rows for each part of a bitmap are smaller than a bitmap can be.
constexpr std::size_t kListedRows = kContainerBytes / sizeof(std::uint32_t) * 2;

}  // namespace

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
  const std::vector<std::uint32_t> codes = builder.codes();
  std::vector<std::uint32_t> numbers(codes.size());
  for (std::uint32_t number = 0; number < codes.size(); ++number) numbers[codes[number]] = number;
  const std::size_t parts = labels.size() / kContainerRows + 1;
  list_ends_.reserve(numbers.size());
  for (const std::uint32_t number : numbers) keep(std::move(rows[number]), kListedRows * parts);
  lists_.shrink_to_fit();
  bitmaps_.shrink_to_fit();
  bitmap_codes_.shrink_to_fit();
}

void SetColumn::keep(std::vector<std::uint32_t> rows, std::size_t most_listed) {
  if (rows.size() <= most_listed) {
    lists_.insert(lists_.end(), rows.begin(), rows.end());
  } else {
    bitmap_codes_.push_back(static_cast<std::uint32_t>(list_ends_.size()));
    bitmaps_.emplace_back(rows.size(), rows.data());
    bitmaps_.back().runOptimize();
    bitmaps_.back().shrinkToFit();
  }
  list_ends_.push_back(lists_.size());
}

const RowBitmap* SetColumn::rows_of(std::uint32_t code, std::deque<RowBitmap>& made) const {
  const auto found = std::lower_bound(bitmap_codes_.begin(), bitmap_codes_.end(), code);
  if (found != bitmap_codes_.end() && *found == code) {
    return &bitmaps_[static_cast<std::size_t>(found - bitmap_codes_.begin())];
  }
  const std::uint64_t begin = code == 0 ? 0 : list_ends_[code - 1];
  return &made.emplace_back(list_ends_[code] - begin, lists_.data() + begin);
}

RowBitmap SetColumn::rows_where(const LabelTest& test) const {
  std::deque<RowBitmap> made;
  std::vector<const RowBitmap*> labels;
  for (const std::string& label : test.labels) {
    const auto code = dictionary_.find(label);
    if (code) labels.push_back(rows_of(*code, made));
    if (!code && test.all) return {};
  }
  if (labels.empty()) return {};
  if (!test.all) return RowBitmap::fastunion(labels.size(), labels.data());
  std::sort(labels.begin(), labels.end(), [](const RowBitmap* one, const RowBitmap* other) {
    return one->cardinality() < other->cardinality();
  });
  RowBitmap rows = *labels[0] & *labels[1];  // one label alone is a test for any
  for (std::size_t i = 2; i < labels.size() && !rows.isEmpty(); ++i) rows &= *labels[i];
  return rows;
}

std::size_t SetColumn::dram_bytes() const {
  std::size_t bytes = dictionary_.dram_bytes() + bitmaps_.capacity() * sizeof(RowBitmap);
  bytes += (lists_.capacity() + bitmap_codes_.capacity()) * sizeof(std::uint32_t);
  bytes += list_ends_.capacity() * sizeof(std::uint64_t);
  for (const RowBitmap& rows : bitmaps_) bytes += heap_bytes(rows);
  return bytes;
}

}  // namespace farvec::attributes
