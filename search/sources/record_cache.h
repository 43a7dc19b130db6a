// A RecordCache keeps the recently fetched records of one core.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/memory.h"
#include "base/types.h"

namespace farvec::search {

/// It is four-way set-associative, second chance within a set. Slots hold the longest record, so a
/// byte budget is kept exactly. Belongs to one thread.
class RecordCache {
 public:
  /// A budget below one set makes a cache that holds nothing.
  RecordCache(std::size_t budget_bytes, std::uint32_t max_record_bytes);

  /// Returns the record's bytes in the form in which they were fetched, or empty. Valid until the
  /// next insert().
  std::span<const std::byte> find(NodeId id);

  void insert(NodeId id, std::span<const std::byte> record);

  std::size_t dram_bytes() const { return sets_.size() * sizeof(Set) + bytes_.size(); }
  bool enabled() const { return !sets_.empty(); }

 private:
  static constexpr std::uint32_t kWays = 4;
  struct Set {
    NodeId ids[kWays] = {kInvalidNode, kInvalidNode, kInvalidNode, kInvalidNode};
    std::uint32_t bytes[kWays] = {};
    std::uint8_t referenced[kWays] = {};
    std::uint32_t hand = 0;
  };

  std::size_t set_of(NodeId id) const;
  std::byte* slot(std::size_t set, std::uint32_t way) {
    return bytes_.data() + (set * kWays + way) * slot_bytes_;
  }

  std::uint32_t slot_bytes_;
  std::vector<Set> sets_;
  HugeBuffer bytes_;
};

}  // namespace farvec::search
