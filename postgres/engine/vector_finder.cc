#include "postgres/engine/vector_finder.h"

#include <xxhash.h>

#include <cstring>
#include <utility>

namespace farvec::postgres {
namespace {

constexpr double kFileUs = 60e6;

std::uint64_t hash_of(std::span<const std::byte> vector, std::span<const std::byte> tuple) {
  const std::uint64_t first = XXH3_64bits(vector.data(), vector.size());
  const std::uint64_t hash = XXH3_64bits_withSeed(tuple.data(), tuple.size(), first);
  return hash == FlatMap<std::uint64_t>::kNoKey ? 0 : hash;
}

}  // namespace

bool read_stored(const collection::RowPlace& place, std::span<std::byte> out) {
  if (place.memtable != nullptr) {
    std::memcpy(out.data(), place.memtable->row(place.row), out.size());
    return true;
  }
  const Ticks until = now_ticks() + us_to_ticks(kFileUs);
  return place.segment->read_row(place.row, out, until).ok();
}

VectorFinder::VectorFinder(collection::ViewPointer view, std::size_t row_bytes)
    : view_(std::move(view)),
      has_columns_(!view_->schema->empty()),
      row_bytes_(row_bytes),
      vector_(row_bytes) {}

bool VectorFinder::look_at(const collection::RowPlace& place, std::uint64_t id) {
  if (!read_stored(place, vector_)) return false;
  const auto note = [&](std::span<const std::byte> tuple) {
    const auto [known, is_new] = ids_.insert(hash_of(vector_, tuple));
    if (is_new) known = id;
  };
  note({});
  if (!has_columns_) return true;
  layout::Tuples tuples;
  place.append_attributes(tuples);
  note(tuples.bytes);
  return true;
}

void VectorFinder::advance(std::size_t rows, std::size_t more_bytes) {
  const auto place_of = [&]() -> std::optional<std::pair<collection::RowPlace, std::uint64_t>> {
    const std::size_t memtables = view_->memtables.size();
    if (part_ < memtables) {
      const collection::View::Fresh& fresh = view_->memtables[part_];
      if (fresh.out->contains(row_)) return std::nullopt;
      return std::pair(fresh.place(row_), fresh.memtable->id(row_));
    }
    const collection::View::Bulk& bulk = view_->segments[part_ - memtables];
    if (bulk.out->contains(row_)) return std::nullopt;
    return std::pair(bulk.place(row_), bulk.segment->ids().of(row_));
  };
  const auto rows_of_part = [&] {
    const std::size_t memtables = view_->memtables.size();
    return part_ < memtables ? view_->memtables[part_].count
                             : view_->segments[part_ - memtables].segment->rows();
  };
  while (view_ != nullptr && rows > 0) {
    if (part_ == view_->memtables.size() + view_->segments.size()) {
      view_.reset();  // a segment that was replaced since goes with it
    } else if (row_ >= rows_of_part()) {
      ++part_;
      row_ = 0;
    } else {
      if (ids_.bytes_of_more(keys_per_row()) > bytes() + more_bytes) return;
      if (const auto place = place_of(); place && !look_at(place->first, place->second)) return;
      ++row_;
      --rows;
    }
  }
}

void VectorFinder::add(std::span<const std::byte> vector, std::span<const std::byte> tuple,
                       std::uint64_t id, std::size_t more_bytes) {
  if (ids_.bytes_of_more(keys_per_row()) > bytes() + more_bytes) return;
  ids_.insert(hash_of(vector, {})).first = id;
  if (has_columns_) ids_.insert(hash_of(vector, tuple)).first = id;
}

std::optional<std::uint64_t> VectorFinder::find(std::span<const std::byte> vector,
                                                std::span<const std::byte> tuple) const {
  const std::uint64_t* const id = ids_.find(hash_of(vector, tuple));
  if (id == nullptr) return std::nullopt;
  return *id;
}

}  // namespace farvec::postgres
