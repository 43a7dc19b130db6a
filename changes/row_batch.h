// A RowBatch is what one call inserts: rows, the id of each, and the attributes of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/types.h"
#include "layout/attributes/tuple.h"

namespace farvec::changes {

/// It borrows all. Nothing in it has been checked.
struct RowBatch {
  VectorView rows;
  std::span<const std::uint64_t> ids;  ///< one for each row
  /// One tuple for each row; none at all for rows whose attributes are all null.
  layout::TupleView attributes = {};

  RowBatch part(std::size_t first, std::size_t count) const {
    return {rows.part(first, count), ids.subspan(first, count),
            attributes.count() == 0 ? layout::TupleView() : attributes.part(first, count)};
  }
};

/// Throws StatusError (invalid_argument) unless there are an id for each row, and as many tuples as
/// rows or none, and each tuple is one of the schema's. The message names the first row that is
/// wrong.
void check_shape(const RowBatch& batch, const layout::Schema& schema);

}  // namespace farvec::changes
