#include "postgres/engine/own_values.h"

#include "base/check.h"
#include <algorithm>
#include <utility>

namespace farvec::postgres {
namespace {

/// Tuples that no row has are kept up to this, or as long as others take more.
constexpr std::size_t kMostDead = std::size_t{64} << 10;

}  // namespace

void OwnValues::count(Row& row, bool differs) {
  if ((row.differs != 0) == differs) return;
  row.differs = differs ? 1 : 0;
  ++changes_;
  std::uint64_t& of_host = hosts_.insert(row.host).first;
  if (differs) {
    ++of_host;
    ++differing_;
    return;
  }
  --differing_;
  if (--of_host == 0) hosts_.erase(row.host);
}

void OwnValues::add(std::uint64_t vid, std::uint64_t host, std::span<const std::byte> tuple,
                    bool differs) {
  const auto [row, is_new] = rows_.insert(vid);
  FARVEC_CHECK(is_new);
  row = {.host = host,
         .begin = tuples_.size(),
         .bytes = static_cast<std::uint32_t>(tuple.size()),
         .differs = 0};
  tuples_.insert(tuples_.end(), tuple.begin(), tuple.end());
  count(row, differs);
}

void OwnValues::erase(std::uint64_t vid) {
  Row* const row = rows_.find(vid);
  if (row == nullptr) return;
  count(*row, false);
  dead_ += row->bytes;
  rows_.erase(vid);
  if (dead_ > kMostDead && dead_ > tuples_.size() / 2) make_dense();
}

void OwnValues::make_dense() {
  std::vector<std::byte> tuples;
  tuples.reserve(tuples_.size() - dead_);
  std::vector<std::uint64_t> vids;
  rows_.for_each([&](std::uint64_t vid, const Row&) { vids.push_back(vid); });
  for (const std::uint64_t vid : vids) {
    Row& row = *rows_.find(vid);
    const std::span<const std::byte> tuple = tuple_of(row);
    row.begin = tuples.size();
    tuples.insert(tuples.end(), tuple.begin(), tuple.end());
  }
  tuples_ = std::move(tuples);
  dead_ = 0;
}

void OwnValues::vertex_has(std::uint64_t vid, std::span<const std::byte> tuple) {
  Row* const row = rows_.find(vid);
  if (row != nullptr) count(*row, !std::ranges::equal(tuple_of(*row), tuple));
}

bool OwnValues::differs(std::uint64_t vid) const {
  const Row* const row = rows_.find(vid);
  return row != nullptr && row->differs != 0;
}

std::span<const std::byte> OwnValues::find(std::uint64_t vid) const {
  const Row* const row = rows_.find(vid);
  return row == nullptr ? std::span<const std::byte>() : tuple_of(*row);
}

std::uint64_t OwnValues::differing_from(std::uint64_t host) const {
  const std::uint64_t* const count = hosts_.find(host);
  return count == nullptr ? 0 : *count;
}

layout::OwnTuples OwnValues::list() const {
  layout::OwnTuples list;
  rows_.for_each([&](std::uint64_t vid, const Row& row) {
    list.ids.push_back(vid);
    list.tuples.append(tuple_of(row));
  });
  return list;
}

std::size_t OwnValues::bytes_of_next(std::size_t tuple_bytes) const {
  const bool fits = tuples_.size() + tuple_bytes <= tuples_.capacity();
  return rows_.bytes_of_more(1) + hosts_.bytes_of_more(1) +
         (fits ? tuples_.capacity() : 2 * tuples_.capacity() + tuple_bytes);
}

}  // namespace farvec::postgres
