#include "search/sources/record_cache.h"

#include <cstring>

#include "base/check.h"

namespace farvec::search {

RecordCache::RecordCache(std::size_t budget_bytes, std::uint32_t max_record_bytes)
    : slot_bytes_(max_record_bytes),
      sets_(budget_bytes / (std::size_t{kWays} * max_record_bytes + sizeof(Set))),
      bytes_(sets_.size() * kWays * max_record_bytes) {}

std::size_t RecordCache::set_of(NodeId id) const {
  // Multiply-shift over any number of sets: the high half of hash * sets.
  const std::uint64_t hash = id * 0x9e3779b97f4a7c15u;
  return static_cast<std::size_t>((static_cast<__uint128_t>(hash) * sets_.size()) >> 64);
}

std::span<const std::byte> RecordCache::find(NodeId id) {
  if (sets_.empty()) return {};
  const std::size_t at = set_of(id);
  Set& set = sets_[at];
  for (std::uint32_t way = 0; way < kWays; ++way) {
    if (set.ids[way] != id) continue;
    set.referenced[way] = 1;
    return {slot(at, way), set.bytes[way]};
  }
  return {};
}

void RecordCache::insert(NodeId id, std::span<const std::byte> record) {
  if (sets_.empty()) return;
  FARVEC_CHECK(record.size() <= slot_bytes_);
  const std::size_t at = set_of(id);
  Set& set = sets_[at];
  for (std::uint32_t way = 0; way < kWays; ++way) {
    if (set.ids[way] == id) return;  // another fiber fetched it meanwhile
  }
  while (set.referenced[set.hand] != 0) {  // at most once around: each step clears one flag
    set.referenced[set.hand] = 0;
    set.hand = (set.hand + 1) % kWays;
  }
  const std::uint32_t way = set.hand;
  set.hand = (way + 1) % kWays;
  set.ids[way] = id;
  set.bytes[way] = static_cast<std::uint32_t>(record.size());
  std::memcpy(slot(at, way), record.data(), record.size());
}

}  // namespace farvec::search
