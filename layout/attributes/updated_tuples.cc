#include "layout/attributes/updated_tuples.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "base/check.h"

namespace farvec::layout {
namespace {

/// What an allocation takes beside its bytes, with the count of its owners.
constexpr std::size_t kOwnedBytes = 32;

std::shared_ptr<const std::byte[]> copy_of(std::span<const std::byte> tuple) {
  auto copy = std::make_shared_for_overwrite<std::byte[]>(tuple.size());
  std::memcpy(copy.get(), tuple.data(), tuple.size());
  return copy;
}

template <typename Entries>
auto lower_bound_of(Entries& entries, NodeId row) {
  return std::lower_bound(entries.begin(), entries.end(), row,
                          [](const auto& entry, NodeId wanted) { return entry.row < wanted; });
}

}  // namespace

std::span<const std::byte> UpdatedTuples::find_in(const Block& block, NodeId row) {
  const auto at = lower_bound_of(block, row);
  if (at == block.end() || at->row != row) return {};
  return {at->tuple.get(), at->bytes};
}

std::vector<NodeId> UpdatedTuples::rows() const {
  std::vector<NodeId> rows;
  rows.reserve(count_);
  for (const auto& block : blocks_) {
    if (block == nullptr) continue;
    for (const Entry& entry : *block) rows.push_back(entry.row);
  }
  return rows;
}

void UpdatedTuples::put(Block& block, Entry entry, UpdatedTuples& into) {
  into.tuple_bytes_ += entry.bytes;
  const auto at = lower_bound_of(block, entry.row);
  if (at != block.end() && at->row == entry.row) {
    into.tuple_bytes_ -= at->bytes;
    *at = std::move(entry);
    return;
  }
  block.insert(at, std::move(entry));
  ++into.count_;
}

UpdatedTuples UpdatedTuples::with(std::span<const NodeId> rows, const TupleView& tuples) const {
  FARVEC_CHECK(rows.size() == tuples.count(), "{} tuples for {} rows", tuples.count(), rows.size());
  static std::atomic<std::uint64_t> last_serial{0};
  UpdatedTuples next = *this;
  next.serial_ = last_serial.fetch_add(1, std::memory_order_relaxed) + 1;
  if (root_ == 0) next.root_ = next.serial_;
  // Blocks that only `next` has, which may still be written.
  std::vector<std::shared_ptr<Block>> own(next.blocks_.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t block = rows[i] / kBlockRows;
    if (block >= own.size()) {
      own.resize(block + 1);
      next.blocks_.resize(block + 1);
    }
    if (own[block] == nullptr) {
      const Block* const old = next.blocks_[block].get();
      own[block] = old == nullptr ? std::make_shared<Block>() : std::make_shared<Block>(*old);
      next.blocks_[block] = own[block];
    }
    const std::span<const std::byte> tuple = tuples.row(i);
    put(*own[block], {rows[i], static_cast<std::uint32_t>(tuple.size()), copy_of(tuple)}, next);
  }
  return next;
}

std::vector<NodeId> UpdatedTuples::rows_beyond(const UpdatedTuples& before) const {
  static const Block kNone;
  std::vector<NodeId> rows;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const Block* const old = b < before.blocks_.size() ? before.blocks_[b].get() : nullptr;
    if (blocks_[b] == nullptr || blocks_[b].get() == old) continue;
    for (const Entry& entry : *blocks_[b]) {
      const auto known = find_in(old == nullptr ? kNone : *old, entry.row);
      if (known.data() != entry.tuple.get()) rows.push_back(entry.row);
    }
  }
  return rows;
}

std::size_t UpdatedTuples::dram_bytes() const {
  return blocks_.capacity() * sizeof(blocks_[0]) + count_ * (sizeof(Entry) + kOwnedBytes) +
         tuple_bytes_;
}

}  // namespace farvec::layout
