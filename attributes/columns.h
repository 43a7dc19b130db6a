// Columns are the attributes of the rows of a segment, in DRAM, in the form in which conditions ask
// for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <variant>
#include <vector>

#include "attributes/condition.h"
#include "attributes/packed_keys.h"
#include "attributes/row_bitmap.h"
#include "attributes/set_column.h"
#include "attributes/text_column.h"
#include "base/types.h"
#include "layout/attributes/schema.h"
#include "layout/attributes/tuple.h"

namespace farvec::attributes {

/// The ids of the rows of a segment, for conditions that ask for the id. Functions are called while
/// matching() runs, on its thread.
struct IdLookup {
  std::function<std::optional<NodeId>(std::uint64_t id)> row_of;  ///< nothing: no row has this id
  std::function<std::uint64_t(NodeId row)> id_of;
};

/// Columns never change. Threads may ask them at the same time.
class Columns {
 public:
  /// Takes what it needs from the tuples of all rows, which check_tuple() accepts for `schema`.
  Columns(const layout::Schema& schema, const layout::TupleView& tuples);
  /// Makes those of rows without attributes: every column is newer.
  explicit Columns(std::uint32_t rows) : rows_(rows) {}

  std::uint32_t rows() const { return rows_; }
  /// Returns the rows for which the condition is true. Columns that are newer than these are null
  /// in every row.
  RowBitmap matching(const Condition& condition, const IdLookup& ids) const;
  /// Returns the bytes of all of it.
  std::size_t dram_bytes() const;

 private:
  friend class Matching;

  /// What is asked of values that are not null; nothing of bytes.
  using Values = std::variant<std::monostate, PackedKeys, TextColumn, SetColumn>;
  struct Column {
    RowBitmap nulls;
    Values values;
  };

  static Column column_of(const layout::Schema& schema, std::size_t column,
                          const layout::TupleView& tuples);
  static Column texts_of(std::size_t column, const layout::TupleView& tuples);
  static Column sets_of(std::size_t column, const layout::TupleView& tuples);

  std::uint32_t rows_ = 0;
  std::vector<Column> columns_;
};

}  // namespace farvec::attributes
