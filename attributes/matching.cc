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
  Matching(const Columns& columns, const IdLookup& ids) : columns_(columns), ids_(ids) {}

  /// Where only rows that are also `within` matter, others may be missing; null: all matter.
  RowBitmap rows_where(const Condition& condition, bool value, const RowBitmap* within) const {
    return std::visit([&](const auto& form) { return rows(form, value, within); },
                      condition.form());
  }

 private:
  using Within = const RowBitmap*;

  RowBitmap rows(const Constant& constant, bool value, Within) const {
    return constant.value == value ? all() : RowBitmap();
  }

  RowBitmap rows(const NullTest& test, bool value, Within) const {
    const Columns::Column* column = find(test.subject);
    if (column == nullptr) return value ? all() : RowBitmap();
    return value ? column->nulls : all() - column->nulls;
  }

  RowBitmap rows(const KeyTest& test, bool value, Within within) const {
    const KeyRanges keys = value ? test.keys : test.keys.complement(keys_of(test.subject.type));
    if (test.subject.is_id()) return rows_with_ids(keys, within);
    const Columns::Column* column = find(test.subject);
    if (column == nullptr) return {};
    return std::get<PackedKeys>(column->values).rows_with(keys, within) - column->nulls;
  }

  RowBitmap rows(const TextTest& test, bool value, Within within) const {
    return text_rows(test, value, within);
  }
  RowBitmap rows(const TextRangeTest& test, bool value, Within within) const {
    return text_rows(test, value, within);
  }
  RowBitmap rows(const PrefixTest& test, bool value, Within within) const {
    return text_rows(test, value, within);
  }

  RowBitmap rows(const LabelTest& test, bool value, Within) const {
    const Columns::Column* column = find(test.subject);
    if (column == nullptr) return {};
    RowBitmap rows = std::get<SetColumn>(column->values).rows_where(test);
    if (value) return rows;
    return all() - rows - column->nulls;
  }

  RowBitmap rows(const Not& outer, bool value, Within within) const {
    return rows_where(*outer.condition, !value, within);
  }

  /// All hold where each of them does, and one of them does not where it fails.
  RowBitmap rows(const Group& group, bool value, Within within) const {
    return group.all == value ? common(group, value, within) : united(group, value, within);
  }

  /// Sets of rows that are there already come first, so that the rest has fewer rows to look at.
  RowBitmap common(const Group& group, bool value, Within within) const {
    std::vector<const Condition*> parts;
    for (const ConditionPointer& part : group.conditions) parts.push_back(part.get());
    std::stable_partition(parts.begin(), parts.end(),
                          [](const Condition* part) { return !looks_at_rows(*part); });
    RowBitmap result = rows_where(*parts.front(), value, within);
    for (std::size_t i = 1; i < parts.size() && !result.isEmpty(); ++i) {
      result &= rows_where(*parts[i], value, &result);
    }
    return result;
  }

  RowBitmap united(const Group& group, bool value, Within within) const {
    RowBitmap result;
    for (const ConditionPointer& part : group.conditions) {
      result |= rows_where(*part, value, within);
    }
    return result;
  }

  static bool looks_at_rows(const Condition& condition) {
    if (const auto* outer = std::get_if<Not>(&condition.form())) {
      return looks_at_rows(*outer->condition);
    }
    return !std::holds_alternative<LabelTest>(condition.form()) &&
           !std::holds_alternative<NullTest>(condition.form());
  }

  template <typename Test>
  RowBitmap text_rows(const Test& test, bool value, Within within) const {
    const Columns::Column* column = find(test.subject);
    if (column == nullptr) return {};
    const RowBitmap rows = std::get<TextColumn>(column->values).rows_where(test, within);
    if (value) return rows - column->nulls;
    return (within != nullptr ? *within : all()) - rows - column->nulls;
  }

  RowBitmap rows_with_ids(const KeyRanges& ids, Within within) const {
    const RowBitmap candidates = within != nullptr ? *within : all();
    const std::uint64_t few = candidates.cardinality() + 1;
    if (ids.count_up_to(few) < few) return rows_of(ids);
    const KeyRanges others = ids.complement(keys_of(layout::ColumnType::u64));
    if (others.count_up_to(few) < few) return candidates - rows_of(others);
    RowBitmap rows;
    for (const NodeId row : candidates) {
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
  const IdLookup& ids_;
};

RowBitmap Columns::matching(const Condition& condition, const IdLookup& ids) const {
  RowBitmap rows = Matching(*this, ids).rows_where(condition, true, nullptr);
  // Rows of labels are kept in the smallest form already. To look for runs in those of a common
  // label takes longer than all else that a search does with them.
  if (!std::holds_alternative<LabelTest>(condition.form())) rows.runOptimize();
  return rows;
}

}  // namespace farvec::attributes
