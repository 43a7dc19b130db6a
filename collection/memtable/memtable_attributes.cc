#include "collection/memtable/memtable_attributes.h"

#include <algorithm>
#include <cstring>

namespace farvec::collection {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 18;
constexpr std::size_t kLengthBytes = sizeof(std::uint32_t);

}  // namespace

MemtableAttributes::MemtableAttributes(std::uint32_t capacity)
    : places_(std::size_t{capacity} * sizeof(const std::byte*)) {}

std::byte* MemtableAttributes::room_for(std::size_t bytes) {
  if (bytes > left_) {
    const std::size_t piece = std::max(bytes, kPieceBytes);
    pieces_.reserve(pieces_.size() + 1);
    pieces_.push_back(std::make_unique_for_overwrite<std::byte[]>(piece));
    piece_bytes_.fetch_add(piece, std::memory_order_relaxed);
    left_ = piece;
    last_ = piece;
  }
  std::byte* const room = pieces_.back().get() + (last_ - left_);
  left_ -= bytes;
  return room;
}

const std::byte* MemtableAttributes::copy_of(std::span<const std::byte> tuple) {
  std::byte* const room = room_for(kLengthBytes + tuple.size());
  store_unaligned(room, static_cast<std::uint32_t>(tuple.size()));
  std::memcpy(room + kLengthBytes, tuple.data(), tuple.size());
  return room;
}

void MemtableAttributes::put(NodeId first, std::size_t rows, const layout::TupleView& tuples) {
  for (std::size_t i = 0; i < rows; ++i) {
    const std::byte* const place = tuples.count() == 0 ? nullptr : copy_of(tuples.row(i));
    store_unaligned(places_.data() + (first + i) * sizeof(place), place);
  }
}

std::span<const std::byte> MemtableAttributes::row(NodeId row) const {
  const auto* const at = load_unaligned<const std::byte*>(places_.data() + row * sizeof(void*));
  if (at == nullptr) return layout::null_tuple();
  return {at + kLengthBytes, load_unaligned<std::uint32_t>(at)};
}

}  // namespace farvec::collection
