#include "attributes/packed_keys.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#include "base/memory.h"

namespace farvec::attributes {
namespace {

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

/// Says quickly, again and again, whether a word is in one of some ranges. Where these lie close
/// together it has a bit for each word.
class RangeTable {
 public:
  explicit RangeTable(std::vector<KeyRange> ranges) : ranges_(std::move(ranges)) {
    const std::uint64_t span = ranges_.back().last - ranges_.front().first;
    if (ranges_.size() < 2 || span >= kMostBits) return;
    least_ = ranges_.front().first;
    bits_.resize(span + 1);
    for (const auto& [first, last] : ranges_) {
      std::fill(bits_.begin() + static_cast<std::ptrdiff_t>(first - least_),
                bits_.begin() + static_cast<std::ptrdiff_t>(last - least_ + 1), true);
    }
  }

  bool contains(std::uint64_t word) const {
    if (!bits_.empty()) return word - least_ < bits_.size() && bits_[word - least_];
    const auto after = std::upper_bound(
        ranges_.begin(), ranges_.end(), word,
        [](std::uint64_t key, const KeyRange& range) { return key < range.first; });
    return after != ranges_.begin() && word <= std::prev(after)->last;
  }

 private:
  /// A table of this size stays in a core's second-level cache.
  static constexpr std::uint64_t kMostBits = std::uint64_t{1} << 22;

  std::vector<KeyRange> ranges_;
  std::uint64_t least_ = 0;
  std::vector<bool> bits_;
};

/// Adds the rows from `row` on whose word is wanted, without a branch for each.
template <typename Word, typename Wanted>
void add_wanted(std::span<const Word> words, std::uint32_t row, const Wanted& wanted,
                Found& found) {
  std::size_t count = found.count;
  for (const Word word : words) {
    found.rows[count] = row++;
    count += wanted(word) ? 1 : 0;
  }
  found.count = count;
}

/// Returns a bit for each of 64 flags, which are 0 or 1.
std::uint64_t bits_of(const std::uint8_t* flags) {
  constexpr std::size_t kTogether = sizeof(std::uint64_t);
  // Eight flags of one byte each come together in the highest byte of the product.
  constexpr std::uint64_t kGather = 0x0102040810204080;
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < kTogether; ++i) {
    std::uint64_t eight;
    std::memcpy(&eight, flags + i * kTogether, sizeof(eight));
    bits |= eight * kGather >> 56 << (i * kTogether);
  }
  return bits;
}

/// Compares all words first, in a loop that becomes vector instructions, and then lists the rows of
/// 64 words at a time. For words of 64 bits the loop over rows is faster.
template <typename Word>
void scan_range(std::span<const Word> words, std::uint32_t row, KeyRange range, Found& found) {
  constexpr std::size_t kTogether = 64;
  const auto first = static_cast<Word>(range.first);
  const auto span = static_cast<Word>(range.last - range.first);
  const auto wanted = [&](Word word) { return static_cast<Word>(word - first) <= span; };
  if constexpr (sizeof(Word) == sizeof(std::uint64_t)) {
    return add_wanted(words, row, wanted, found);
  }
  alignas(std::uint64_t) std::array<std::uint8_t, PackedKeys::kBlockRows> flags;
  for (std::size_t i = 0; i < words.size(); ++i) flags[i] = wanted(words[i]) ? 1 : 0;
  std::fill(flags.begin() + static_cast<std::ptrdiff_t>(words.size()),
            flags.begin() + static_cast<std::ptrdiff_t>(round_up(words.size(), kTogether)),
            std::uint8_t{0});
  std::size_t count = found.count;
  for (std::size_t i = 0; i < words.size(); i += kTogether) {
    for (std::uint64_t bits = bits_of(flags.data() + i); bits != 0; bits &= bits - 1) {
      found.rows[count++] =
          row + static_cast<std::uint32_t>(i) + static_cast<std::uint32_t>(std::countr_zero(bits));
    }
  }
  found.count = count;
}

/// Returns the ranges as words: without what no key can be, and minus the least key.
std::vector<KeyRange> clipped(std::span<const KeyRange> ranges, KeyRange all) {
  std::vector<KeyRange> result;
  for (const auto& [first, last] : ranges) {
    result.push_back(
        {std::max(first, all.first) - all.first, std::min(last, all.last) - all.first});
  }
  return result;
}

/// Finds the rows of a block. `table` has the ranges of all blocks.
template <typename Word>
void scan_block(std::span<const Word> words, std::uint32_t row, std::span<const KeyRange> ranges,
                const RangeTable& table, Found& found) {
  found.count = 0;
  if (ranges.size() == 1) {
    scan_range(words, row, ranges.front(), found);
  } else {
    add_wanted(
        words, row, [&](Word word) { return table.contains(word); }, found);
  }
}

/// Says that looking at single rows is cheaper than at whole blocks.
bool are_few(const RowBitmap& rows, std::uint32_t all) {
  constexpr std::uint64_t kFewOf = 16;
  return rows.cardinality() < all / kFewOf;
}

}  // namespace

PackedKeys::PackedKeys(std::span<const std::uint64_t> keys, const RowBitmap& nulls)
    : rows_(static_cast<std::uint32_t>(keys.size())), blocks_(bounds_of(keys, nulls)) {
  for (const KeyRange& block : blocks_) {
    all_ = {std::min(all_.first, block.first), std::max(all_.last, block.last)};
  }
  if (all_.first >= all_.last) return;
  const std::uint64_t span = all_.last - all_.first;
  if (fits<std::uint8_t>(span)) {
    words_ = packed<std::uint8_t>(keys, all_.first);
  } else if (fits<std::uint16_t>(span)) {
    words_ = packed<std::uint16_t>(keys, all_.first);
  } else if (fits<std::uint32_t>(span)) {
    words_ = packed<std::uint32_t>(keys, all_.first);
  } else {
    words_ = packed<std::uint64_t>(keys, all_.first);
  }
}

std::vector<KeyRange> PackedKeys::bounds_of(std::span<const std::uint64_t> keys,
                                            const RowBitmap& nulls) const {
  std::vector<KeyRange> blocks((keys.size() + kBlockRows - 1) / kBlockRows, kNoKeys);
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

RowBitmap PackedKeys::rows_with(const KeyRanges& keys, const RowBitmap* within) const {
  const auto ranges = overlapping(keys.ranges(), all_);
  if (all_.first > all_.last || ranges.empty()) return {};
  if (within != nullptr && are_few(*within, rows_)) return rows_among(keys, *within);
  const RangeTable table(clipped(ranges, all_));
  RowBitmap result;
  Found found;
  for (std::uint32_t block = 0; block < blocks_.size(); ++block) {
    const KeyRange bounds = blocks_[block];
    const auto some = overlapping(keys.ranges(), bounds);
    if (bounds.first > bounds.last || some.empty()) continue;
    const std::uint32_t row = block * kBlockRows;
    const std::uint32_t count = std::min(kBlockRows, rows_ - row);
    if (some.front().first <= bounds.first && some.front().last >= bounds.last) {
      result.addRange(row, std::uint64_t{row} + count);
      continue;
    }
    const std::vector<KeyRange> wanted = clipped(some, all_);
    const auto scan = [&](const auto& words) {
      scan_block(std::span(words).subspan(row, count), row, wanted, table, found);
    };
    std::visit(scan, words_);
    result.addMany(found.count, found.rows.data());
  }
  return result;
}

RowBitmap PackedKeys::rows_among(const KeyRanges& keys, const RowBitmap& rows) const {
  RowBitmap result;
  const auto key_of_row = [&](std::uint32_t row) {
    return std::visit(
        [&](const auto& words) { return words.empty() ? all_.first : all_.first + words[row]; },
        words_);
  };
  for (const std::uint32_t row : rows) {
    if (keys.contains(key_of_row(row))) result.add(row);
  }
  return result;
}

std::size_t PackedKeys::dram_bytes() const {
  const auto bytes_of = [](const auto& words) { return words.capacity() * sizeof(words[0]); };
  return std::visit(bytes_of, words_) + bytes_of(blocks_);
}

}  // namespace farvec::attributes
