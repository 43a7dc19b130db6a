#include "attributes/columns.h"

#include <algorithm>
#include <utility>

#include "attributes/scalar_key.h"

namespace farvec::attributes {
namespace {

using layout::ColumnType;

/// Calls visit(row, tuple) for each row that is not null in a column, and returns those that are.
template <typename Visit>
RowBitmap visit_values(const layout::TupleView& tuples, std::size_t column, const Visit& visit) {
  RowBitmap nulls;
  for (std::uint32_t row = 0; row < tuples.count(); ++row) {
    const layout::Tuple tuple(tuples.row(row));
    if (tuple.is_null(column)) {
      nulls.add(row);
    } else {
      visit(row, tuple);
    }
  }
  nulls.runOptimize();
  nulls.shrinkToFit();
  return nulls;
}

}  // namespace

Columns::Columns(const layout::Schema& schema, const layout::TupleView& tuples)
    : rows_(static_cast<std::uint32_t>(tuples.count())) {
  for (std::size_t i = 0; i < schema.size(); ++i) columns_.push_back(column_of(schema, i, tuples));
}

Columns::Column Columns::column_of(const layout::Schema& schema, std::size_t column,
                                   const layout::TupleView& tuples) {
  const ColumnType type = schema[column].type;
  if (type == ColumnType::string) return texts_of(column, tuples);
  if (type == ColumnType::set) return sets_of(column, tuples);
  if (type == ColumnType::bytes) {
    return {visit_values(tuples, column, [](std::uint32_t, const layout::Tuple&) {}), {}};
  }
  std::vector<std::uint64_t> keys(tuples.count());
  RowBitmap nulls =
      visit_values(tuples, column, [&](std::uint32_t row, const layout::Tuple& tuple) {
        keys[row] = key_of(type, tuple.word(column));
      });
  PackedKeys packed(keys, nulls);
  return {std::move(nulls), std::move(packed)};
}

Columns::Column Columns::texts_of(std::size_t column, const layout::TupleView& tuples) {
  std::vector<std::string_view> texts(tuples.count());
  RowBitmap nulls = visit_values(
      tuples, column,
      [&](std::uint32_t row, const layout::Tuple& tuple) { texts[row] = tuple.text(column); });
  TextColumn values(texts, nulls);
  return {std::move(nulls), std::move(values)};
}

Columns::Column Columns::sets_of(std::size_t column, const layout::TupleView& tuples) {
  std::vector<layout::Labels> labels(tuples.count());
  RowBitmap nulls = visit_values(
      tuples, column,
      [&](std::uint32_t row, const layout::Tuple& tuple) { labels[row] = tuple.labels(column); });
  return {std::move(nulls), SetColumn(labels)};
}

std::size_t Columns::dram_bytes() const {
  std::size_t bytes = columns_.capacity() * sizeof(Column);
  for (const Column& column : columns_) {
    bytes += heap_bytes(column.nulls);
    bytes += std::visit(
        [](const auto& values) -> std::size_t {
          if constexpr (requires { values.dram_bytes(); }) return values.dram_bytes();
          return 0;
        },
        column.values);
  }
  return bytes;
}

}  // namespace farvec::attributes
