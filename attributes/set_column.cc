#include "attributes/set_column.h"

#include <algorithm>
#include <numeric>

namespace farvec::attributes {
namespace {

/// Lists with fewer rows for each part of a bitmap are smaller than a bitmap can be.
constexpr std::size_t kListedRows = kContainerBytes / sizeof(std::uint32_t) * 2;

/// The rows of every label, one label after the other, in the order of the labels' codes.
struct RowsByCode {
  std::vector<std::uint32_t> rows;
  std::vector<std::uint64_t> ends;
};

/// Takes the number of each label of each row, in `ends.size()` rows, and the code of each number.
RowsByCode rows_by_code(const std::vector<std::uint32_t>& numbers,
                        const std::vector<std::uint64_t>& ends,
                        const std::vector<std::uint32_t>& codes) {
  RowsByCode result{std::vector<std::uint32_t>(numbers.size()),
                    std::vector<std::uint64_t>(codes.size() + 1)};
  for (const std::uint32_t number : numbers) ++result.ends[codes[number] + 1];
  std::partial_sum(result.ends.begin(), result.ends.end(), result.ends.begin());
  std::size_t i = 0;
  for (std::uint32_t row = 0; row < ends.size(); ++row) {
    for (; i < ends[row]; ++i) result.rows[result.ends[codes[numbers[i]]]++] = row;
  }
  result.ends.pop_back();  // each has become the end of its label
  return result;
}

}  // namespace

SetColumn::SetColumn(std::span<const layout::Labels> labels) {
  DictionaryBuilder builder;
  std::vector<std::uint32_t> numbers;
  std::vector<std::uint64_t> ends;
  for (const layout::Labels& set : labels) {
    for (std::uint32_t i = 0; i < set.size(); ++i) numbers.push_back(builder.number_of(set[i]));
    ends.push_back(numbers.size());
  }
  dictionary_ = builder.dictionary();
  const RowsByCode all = rows_by_code(numbers, ends, builder.codes());
  const std::size_t parts = labels.size() / kContainerRows + 1;
  list_ends_.reserve(all.ends.size());
  std::uint64_t begin = 0;
  for (const std::uint64_t end : all.ends) {
    keep(std::span(all.rows).subspan(begin, end - begin), kListedRows * parts);
    begin = end;
  }
  lists_.shrink_to_fit();
  bitmaps_.shrink_to_fit();
  bitmap_codes_.shrink_to_fit();
}

void SetColumn::keep(std::span<const std::uint32_t> rows, std::size_t most_listed) {
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
