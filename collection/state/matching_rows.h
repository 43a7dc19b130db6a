// matching_rows() finds the rows of a view that meet a condition.
#pragma once

#include <cstdint>
#include <vector>

#include "attributes/condition.h"
#include "base/progress.h"
#include "base/types.h"
#include "collection/state/view.h"

namespace farvec::collection {

/// The live rows of one part of a view that meet a condition.
struct MatchingRows {
  const View::Fresh* fresh = nullptr;  ///< null for a segment's
  const View::Bulk* bulk = nullptr;    ///< null for a memtable's
  std::vector<NodeId> rows;            ///< ascending

  std::uint64_t id(NodeId row) const {
    return fresh != nullptr ? fresh->memtable->id(row) : bulk->segment->ids().of(row);
  }
  RowPlace place(NodeId row) const {
    return fresh != nullptr ? fresh->place(row) : bulk->place(row);
  }
};

/// Returns the rows of a memtable, ascending.
std::vector<NodeId> matching_rows(const View::Fresh& fresh, const attributes::Condition& condition);
/// Returns the rows of every part, which borrow the view. Asks the interruption between the parts,
/// and throws WorkInterrupted.
std::vector<MatchingRows> matching_rows(const View& view, const attributes::Condition& condition,
                                        const Interruption& interrupted);

}  // namespace farvec::collection
