// RowIds have the user's id of every row of a segment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "attributes/columns.h"
#include "base/types.h"

namespace farvec::collection {

/// It is immutable, and threads share it.
class RowIds {
 public:
  /// `ids` has one id per row, none twice.
  explicit RowIds(std::vector<std::uint64_t> ids);

  std::uint32_t rows() const { return static_cast<std::uint32_t>(ids_.size()); }
  std::uint64_t of(NodeId row) const { return ids_[row]; }
  std::span<const std::uint64_t> all() const { return ids_; }
  /// Returns the row that has the id; none when no row has it.
  std::optional<NodeId> find(std::uint64_t id) const;
  /// Appends the rows that have one of these ids, which ascend.
  void find_all(std::span<const std::uint64_t> ids, std::vector<NodeId>& rows) const;
  /// Returns the rows whose ids are not less than `first` and less than `end`, in the order of
  /// their ids.
  std::span<const NodeId> between(std::uint64_t first, std::uint64_t end) const;

  /// For conditions that ask for ids. It borrows these.
  attributes::IdLookup lookup() const {
    return {.row_of = [this](std::uint64_t id) { return find(id); },
            .id_of = [this](NodeId row) { return of(row); }};
  }

  std::size_t dram_bytes() const;

 private:
  std::vector<NodeId>::const_iterator at_least(std::uint64_t id) const;

  std::vector<std::uint64_t> ids_;
  std::vector<NodeId> by_id_;  ///< rows in the order of their ids
};

}  // namespace farvec::collection
