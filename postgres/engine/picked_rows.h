// PickedRows are copies of some rows of a batch.
#pragma once

#include "base/types.h"
#include "changes/row_batch.h"
#include "layout/attributes/tuple.h"
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace farvec::postgres {

class PickedRows {
 public:
  /// `rows` are numbers of rows of the batch.
  PickedRows(const changes::RowBatch& batch, std::span<const std::size_t> rows)
      : dimension_(batch.rows.dimension), type_(batch.rows.type) {
    for (const std::size_t row : rows) {
      const std::byte* const vector = batch.rows.row(row);
      vectors_.insert(vectors_.end(), vector, vector + batch.rows.row_bytes());
      ids_.push_back(batch.ids[row]);
      if (batch.attributes.count() > 0) tuples_.append(batch.attributes.row(row));
    }
  }

  /// Borrows them.
  changes::RowBatch batch() const {
    return {packed_view(vectors_.data(), ids_.size(), dimension_, type_), ids_, tuples_.view()};
  }

 private:
  std::uint32_t dimension_;
  ElementType type_;
  std::vector<std::byte> vectors_;
  std::vector<std::uint64_t> ids_;
  layout::Tuples tuples_;
};

}  // namespace farvec::postgres
