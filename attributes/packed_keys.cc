#include "attributes/packed_keys.h"

#include <algorithm>
#include <array>
#include <limits>

namespace farvec::attributes {
namespace {

constexpr std::uint64_t kNoKey = std::numeric_limits<std::uint64_t>::max();
constexpr KeyRange kNothing{kNoKey, 0};

void widen(KeyRange& bounds, std::uint64_t key) {
  bounds.first = std::min(bounds.first, key);
  bounds.last = std::max(bounds.last, key);
}

/// Packs keys from `least` to `greatest`. Null rows get any word.
template <typename Word>
std::vector<Word> packed(std::span<const std::uint64_t> keys, std::uint64_t least) {
  std::vector<Word> words(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) words[i] = static_cast<Word>(keys[i] - least);
  return words;
}

template <typename Word>
bool fits(std::uint64_t span) {
  return span <= std::numeric_limits<Word>::max();
}

/// The ranges that a block may have keys of.
std::span<const KeyRange> overlapping(const std::vector<KeyRange>& ranges, KeyRange block) {
  const auto begin =
      std::lower_bound(ranges.begin(), ranges.end(), block.first,
                       [](const KeyRange& range, std::uint64_t key) { return range.last < key; });
  const auto end =
      std::upper_bound(begin, ranges.end(), block.last,
                       [](std::uint64_t key, const KeyRange& range) { return key < range.first; });
  return {begin, end};
}

/// The rows that were found in a block.
struct Found {
  std::array<std::uint32_t, PackedKeys::kBlockRows> rows;
  std::size_t count = 0;
};

/// Compares without a branch for each row.
template <typename Word>
void scan_range(std::span<const Word> words, std::uint32_t row, KeyRange range, Found& found) {
  const auto first = static_cast<Word>(range.first);
  const auto span = static_cast<Word>(range.last - range.first);
  std::size_t count = 0;
  for (const Word word : words) {
    found.rows[count] = row++;
    count += static_cast<Word>(word - first) <= span ? 1 : 0;
  }
  found.count = count;
}

template <typename Word>
void scan_ranges(std::span<const Word> words, std::uint32_t row, std::span<const KeyRange> ranges,
                 Found& found) {
  std::size_t count = 0;
  for (const Word word : words) {
    const auto after = std::upper_bound(
        ranges.begin(), ranges.end(), std::uint64_t{word},
        [](std::uint64_t key, const KeyRange& range) { return key < range.first; });
    found.rows[count] = row++;
    count += after != ranges.begin() && word <= std::prev(after)->last ? 1 : 0;
  }
  found.count = count;
}

/// Returns the ranges as words of a block: without what its keys cannot be, and minus `least`.
std::vector<KeyRange> clipped(std::span<const KeyRange> ranges, KeyRange block,
                              std::uint64_t least) {
  std::vector<KeyRange> result;
  for (const auto& [first, last] : ranges) {
    result.push_back({std::max(first, block.first) - least, std::min(last, block.last) - least});
  }
  return result;
}

}  // namespace

PackedKeys::PackedKeys(std::span<const std::uint64_t> keys, const RowBitmap& nulls)
    : rows_(static_cast<std::uint32_t>(keys.size())), blocks_(bounds_of(keys, nulls)) {
  KeyRange all = kNothing;
  for (const KeyRange& block : blocks_) {
    if (block.first <= block.last) {
      widen(all, block.first);
      widen(all, block.last);
    }
  }
  if (all.first >= all.last) return;
  least_ = all.first;
  const std::uint64_t span = all.last - all.first;
  if (fits<std::uint8_t>(span)) {
    words_ = packed<std::uint8_t>(keys, least_);
  } else if (fits<std::uint16_t>(span)) {
    words_ = packed<std::uint16_t>(keys, least_);
  } else if (fits<std::uint32_t>(span)) {
    words_ = packed<std::uint32_t>(keys, least_);
  } else {
    words_ = packed<std::uint64_t>(keys, least_);
  }
}

std::vector<KeyRange> PackedKeys::bounds_of(std::span<const std::uint64_t> keys,
                                            const RowBitmap& nulls) const {
  std::vector<KeyRange> blocks((keys.size() + kBlockRows - 1) / kBlockRows, kNothing);
  auto null = nulls.begin();
  for (std::uint32_t row = 0; row < keys.size(); ++row) {
    if (null != nulls.end() && *null == row) {
      ++null;
    } else {
      widen(blocks[row / kBlockRows], keys[row]);
    }
  }
  return blocks;
}

RowBitmap PackedKeys::rows_with(const KeyRanges& keys) const {
  RowBitmap result;
  Found found;
  for (std::uint32_t block = 0; block < blocks_.size(); ++block) {
    const KeyRange bounds = blocks_[block];
    const auto ranges = overlapping(keys.ranges(), bounds);
    if (bounds.first > bounds.last || ranges.empty()) continue;
    const std::uint32_t row = block * kBlockRows;
    const std::uint32_t count = std::min(kBlockRows, rows_ - row);
    if (ranges.front().first <= bounds.first && ranges.front().last >= bounds.last) {
      result.addRange(row, std::uint64_t{row} + count);
      continue;
    }
    const std::vector<KeyRange> wanted = clipped(ranges, bounds, least_);
    std::visit(
        [&](const auto& words) {
          const auto part = std::span(words).subspan(row, count);
          if (wanted.size() == 1) {
            scan_range(part, row, wanted.front(), found);
          } else {
            scan_ranges(part, row, wanted, found);
          }
        },
        words_);
    result.addMany(found.count, found.rows.data());
  }
  return result;
}

std::size_t PackedKeys::dram_bytes() const {
  const auto bytes_of = [](const auto& words) { return words.capacity() * sizeof(words[0]); };
  return std::visit(bytes_of, words_) + bytes_of(blocks_);
}

}  // namespace farvec::attributes
