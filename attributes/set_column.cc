#include "attributes/set_column.h"

#include <algorithm>
#include <numeric>

namespace farvec::attributes {
namespace {

/// Lists with fewer rows for each part of a bitmap are smaller than a bitmap can be.
constexpr std::size_t kListedRows = kContainerBytes / sizeof(std::uint32_t) * 2;
/// Rows of a list are looked up in a bitmap one by one where they are at most this many.
constexpr std::size_t kMostLookedUp = 1024;

RowBitmap to_bitmap(std::span<const std::uint32_t> rows) {
  return {rows.size(), rows.data()};
}

/// Keeps those of the rows that `other`, which ascends too, has.
void keep_common(std::vector<std::uint32_t>& rows, std::span<const std::uint32_t> other) {
  auto next = other.begin();
  std::erase_if(rows, [&](std::uint32_t row) {
    next = std::lower_bound(next, other.end(), row);
    return next == other.end() || *next != row;
  });
}

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

SetColumn::LabelRows SetColumn::rows_of(std::uint32_t code) const {
  const auto found = std::lower_bound(bitmap_codes_.begin(), bitmap_codes_.end(), code);
  if (found != bitmap_codes_.end() && *found == code) {
    return {&bitmaps_[static_cast<std::size_t>(found - bitmap_codes_.begin())], {}};
  }
  const std::uint64_t begin = code == 0 ? 0 : list_ends_[code - 1];
  return {nullptr, std::span(lists_).subspan(begin, list_ends_[code] - begin)};
}

RowBitmap SetColumn::rows_where(const LabelTest& test) const {
  std::vector<LabelRows> labels;
  for (const std::string& label : test.labels) {
    const auto code = dictionary_.find(label);
    if (code) labels.push_back(rows_of(*code));
    if (!code && test.all) return {};
  }
  if (labels.empty()) return {};
  return test.all && labels.size() > 1 ? common(labels) : united(labels);
}

/// Bitmaps are united all at once: a condition may have 10,000 labels.
RowBitmap SetColumn::united(std::span<const LabelRows> labels) {
  std::vector<const RowBitmap*> bitmaps;
  for (const LabelRows& label : labels) {
    if (label.bitmap != nullptr) bitmaps.push_back(label.bitmap);
  }
  RowBitmap rows;
  if (!bitmaps.empty()) rows = RowBitmap::fastunion(bitmaps.size(), bitmaps.data());
  for (const LabelRows& label : labels) {
    if (label.bitmap == nullptr) rows.addMany(label.list.size(), label.list.data());
  }
  return rows;
}

RowBitmap SetColumn::bitmap_of(const LabelRows& label) {
  return label.bitmap != nullptr ? *label.bitmap : to_bitmap(label.list);
}

/// Looks at the label that fewest rows have, and then at those rows alone. A bitmap of a list takes
/// longer to make than a few rows take to be looked up.
RowBitmap SetColumn::common(std::vector<LabelRows>& labels) {
  std::sort(labels.begin(), labels.end(), [](const LabelRows& one, const LabelRows& other) {
    return one.count() < other.count();
  });
  const LabelRows& first = labels.front();
  if (first.bitmap != nullptr || first.list.size() > kMostLookedUp) {
    RowBitmap rows = bitmap_of(first);
    for (std::size_t i = 1; i < labels.size() && !rows.isEmpty(); ++i) {
      if (labels[i].bitmap != nullptr) {
        rows &= *labels[i].bitmap;
      } else {
        rows &= to_bitmap(labels[i].list);
      }
    }
    return rows;
  }
  std::vector<std::uint32_t> rows(first.list.begin(), first.list.end());
  for (std::size_t i = 1; i < labels.size() && !rows.empty(); ++i) {
    if (labels[i].bitmap == nullptr) {
      keep_common(rows, labels[i].list);
    } else {
      const RowBitmap& other = *labels[i].bitmap;
      std::erase_if(rows, [&](std::uint32_t row) { return !other.contains(row); });
    }
  }
  return to_bitmap(rows);
}

std::size_t SetColumn::dram_bytes() const {
  std::size_t bytes = dictionary_.dram_bytes() + bitmaps_.capacity() * sizeof(RowBitmap);
  bytes += (lists_.capacity() + bitmap_codes_.capacity()) * sizeof(std::uint32_t);
  bytes += list_ends_.capacity() * sizeof(std::uint64_t);
  for (const RowBitmap& rows : bitmaps_) bytes += heap_bytes(rows);
  return bytes;
}

}  // namespace farvec::attributes
