// Asks all rows of a segment for a condition.
#include <algorithm>
#include <utility>

#include "attributes/columns.h"
#include "attributes/scalar_key.h"

namespace farvec::attributes {
namespace {

RowBitmap all_rows(std::uint32_t rows) {
  RowBitmap all;
  all.addRange(0, rows);
  return all;
}

}  // namespace

/// Finds the rows for which a condition is true, or those for which it is false; for the rest it is
/// unknown. Each part of a condition is asked for one of the two, once.
class Matching {
 public:
  Matching(const Columns& columns, const RowIds& ids) : columns_(columns), ids_(ids) {}

  RowBitmap rows_where(const Condition& condition, bool value) const {
    return std::visit([&](const auto& form) { return rows(form, value); }, condition.form());
  }

 private:
  RowBitmap rows(const Constant& constant, bool value) const {
    return constant.value == value ? all() : RowBitmap();
  }

  RowBitmap rows(const NullTest& test, bool value) const {
    const Columns::Column* column = find(test.subject);
    if (column == nullptr) return value ? all() : RowBitmap();
    return value ? column->nulls : all() - column->nulls;
  }

  RowBitmap rows(const KeyTest& test, bool value) const {
    const KeyRanges keys = value ? test.keys : test.keys.complement(keys_of(test.subject.type));
    if (test.subject.is_id()) return rows_with_ids(keys);
    const Columns::Column* column = find(test.subject);
    if (column == nullptr) return {};
    return std::get<PackedKeys>(column->values).rows_with(keys) - column->nulls;
  }

  RowBitmap rows(const TextTest& test, bool value) const { return text_rows(test, value); }
  RowBitmap rows(const TextRangeTest& test, bool value) const { return text_rows(test, value); }
  RowBitmap rows(const PrefixTest& test, bool value) const { return text_rows(test, value); }
  RowBitmap rows(const LabelTest& test, bool value) const {
    return column_rows<SetColumn>(test, value);
  }

  RowBitmap rows(const Not& outer, bool value) const {
    return rows_where(*outer.condition, !value);
  }

  /// All hold where each of them does, and one of them does not where it fails.
  RowBitmap rows(const Group& group, bool value) const {
    RowBitmap result = rows_where(*group.conditions.front(), value);
    for (std::size_t i = 1; i < group.conditions.size(); ++i) {
      if (group.all != value) {
        result |= rows_where(*group.conditions[i], value);
      } else if (!result.isEmpty()) {
        result &= rows_where(*group.conditions[i], value);
      }
    }
    return result;
  }

  template <typename Test>
  RowBitmap text_rows(const Test& test, bool value) const {
    return column_rows<TextColumn>(test, value);
  }

  template <typename Values, typename Test>
  RowBitmap column_rows(const Test& test, bool value) const {
    const Columns::Column* column = find(test.subject);
    if (column == nullptr) return {};
    const RowBitmap rows = std::get<Values>(column->values).rows_where(test);
    return (value ? rows : all() - rows) - column->nulls;
  }

  RowBitmap rows_with_ids(const KeyRanges& ids) const {
    const std::uint64_t few = std::uint64_t{columns_.rows_} + 1;
    if (ids.count_up_to(few) < few) return rows_of(ids);
    const KeyRanges others = ids.complement(keys_of(layout::ColumnType::u64));
    if (others.count_up_to(few) < few) return all() - rows_of(others);
    RowBitmap rows;
    for (NodeId row = 0; row < columns_.rows_; ++row) {
      if (ids.contains(ids_.id_of(row))) rows.add(row);
    }
    return rows;
  }

  RowBitmap rows_of(const KeyRanges& ids) const {
    RowBitmap rows;
    for (const auto& [first, last] : ids.ranges()) {
      for (std::uint64_t i = 0; i <= last - first; ++i) {
        if (const auto row = ids_.row_of(first + i)) rows.add(*row);
      }
    }
    return rows;
  }

  /// Returns null where the column is newer than the columns.
  const Columns::Column* find(const Subject& subject) const {
    const bool is_old = subject.column < columns_.columns_.size();
    return is_old ? &columns_.columns_[subject.column] : nullptr;
  }
  RowBitmap all() const { return all_rows(columns_.rows_); }

  const Columns& columns_;
  const RowIds& ids_;
};

RowBitmap Columns::matching(const Condition& condition, const RowIds& ids) const {
  return Matching(*this, ids).rows_where(condition, true);
}

}  // namespace farvec::attributes
