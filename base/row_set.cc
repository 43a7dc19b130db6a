#include "base/row_set.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace farvec {
namespace {

/// Counts the bits of words. The baseline of our builds has no instruction for it, and
/// std::popcount is a call there: from_words() takes a third of the time without it.
std::uint64_t bits_of(std::span<const std::uint64_t> words) {
  constexpr std::size_t kMostInBytes = 31;
  std::uint64_t bits = 0;
  while (!words.empty()) {
    const auto some = words.first(std::min(kMostInBytes, words.size()));
    words = words.subspan(some.size());
    std::uint64_t bytes = 0;
    for (std::uint64_t word : some) {
      word -= word >> 1 & 0x5555555555555555;
      word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
      bytes += (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0f;
    }
    const std::uint64_t pairs = (bytes & 0x00ff00ff00ff00ff) + (bytes >> 8 & 0x00ff00ff00ff00ff);
    bits += pairs * 0x0001000100010001 >> 48;
  }
  return bits;
}

}  // namespace

RowSet RowSet::with(std::span<const NodeId> rows) const {
  RowSet next = *this;
  // Blocks that only `next` has, which may still be written.
  std::vector<std::shared_ptr<Block>> own(next.blocks_.size());
  for (const NodeId row : rows) {
    const std::size_t block = row / kBlockRows;
    if (block >= own.size()) {
      own.resize(block + 1);
      next.blocks_.resize(block + 1);
    }
    if (own[block] == nullptr) {
      const Block* const old = next.blocks_[block].get();
      own[block] = old == nullptr ? std::make_shared<Block>() : std::make_shared<Block>(*old);
      next.blocks_[block] = own[block];
    }
    std::uint64_t& word = (*own[block])[row % kBlockRows / kWordBits];
    const std::uint64_t bit = std::uint64_t{1} << (row % kWordBits);
    next.count_ += (word & bit) == 0 ? 1 : 0;
    word |= bit;
  }
  return next;
}

std::vector<NodeId> RowSet::rows_beyond(const RowSet& before) const {
  static const Block kNone{};
  std::vector<NodeId> rows;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const Block* const old = b < before.blocks_.size() ? before.blocks_[b].get() : nullptr;
    if (blocks_[b] == nullptr || blocks_[b].get() == old) continue;
    const Block& other = old == nullptr ? kNone : *old;
    for (std::size_t w = 0; w < kNone.size(); ++w) {
      for (std::uint64_t more = (*blocks_[b])[w] & ~other[w]; more != 0; more &= more - 1) {
        rows.push_back(static_cast<NodeId>(b * kBlockRows + w * kWordBits) +
                       static_cast<NodeId>(std::countr_zero(more)));
      }
    }
  }
  return rows;
}

RowSet RowSet::from_words(std::span<const std::uint64_t> words) {
  RowSet set;
  constexpr std::size_t kBlockWords = kBlockRows / kWordBits;
  for (std::size_t begin = 0; begin < words.size(); begin += kBlockWords) {
    const auto part = words.subspan(begin, std::min(kBlockWords, words.size() - begin));
    const std::uint64_t count = bits_of(part);
    std::shared_ptr<Block> block;
    if (count > 0) {
      block = std::make_shared_for_overwrite<Block>();
      std::fill(std::copy(part.begin(), part.end(), block->begin()), block->end(), 0);
    }
    set.blocks_.push_back(std::move(block));
    set.count_ += count;
  }
  return set;
}

std::vector<std::uint64_t> RowSet::to_words(std::uint64_t rows) const {
  std::vector<std::uint64_t> words((rows + kWordBits - 1) / kWordBits, 0);
  constexpr std::size_t kBlockWords = kBlockRows / kWordBits;
  for (std::size_t block = 0; block < blocks_.size(); ++block) {
    if (blocks_[block] == nullptr) continue;
    const std::size_t begin = block * kBlockWords;
    for (std::size_t i = 0; i < kBlockWords; ++i) {
      const std::uint64_t word = (*blocks_[block])[i];
      if (word == 0) continue;
      FARVEC_CHECK(begin + i < words.size(), "a row after the last of {}", rows);
      words[begin + i] = word;
    }
  }
  return words;
}

std::size_t RowSet::dram_bytes() const {
  std::size_t bytes = blocks_.capacity() * sizeof(blocks_[0]);
  for (const auto& block : blocks_) bytes += block == nullptr ? 0 : sizeof(Block);
  return bytes;
}

}  // namespace farvec
