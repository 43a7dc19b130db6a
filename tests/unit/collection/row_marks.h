// Marks are attributes that follow from the vector, so that every row of a view tells whether its
// attributes are its own.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "attributes/condition.h"
#include "collection/segment/segment_folder.h"
#include "collection/state/view.h"
#include "layout/attributes/tuple.h"

namespace farvec::collection {

inline layout::Schema mark_schema() {
  return layout::parse_schema("number: f64 not null, text: string not null");
}

/// The same columns, where the text is the tenant's key.
inline layout::Schema tenant_mark_schema() {
  return layout::parse_schema("number: f64 not null, text: string tenant");
}

inline std::vector<layout::Value> mark_of(const float* row) {
  return {double{row[0]}, std::string(static_cast<std::size_t>(50 * (row[1] + 1)), 'm')};
}

/// The same columns for a collection that gets them while it has rows.
inline layout::Schema later_mark_schema() {
  return layout::parse_schema("number: f64, text: string");
}

/// Names every tenant that a row of random_row() may have; null where there are no tenants.
inline attributes::ConditionPointer of_any_tenant(const layout::Schema& schema) {
  if (!schema.tenant()) return nullptr;
  std::string text = "text in (''";
  for (std::size_t length = 1; length <= 100; ++length) {
    text += ", '" + std::string(length, 'm') + "'";
  }
  return attributes::parse_condition(text + ")", schema);
}

/// Appends the first values of a row's mark, as many as the schema has columns.
inline void append_mark(const float* row, const layout::Schema& schema,
                        std::vector<std::byte>& out) {
  std::vector<layout::Value> mark = mark_of(row);
  mark.resize(schema.size());
  layout::append_tuple(schema, mark, out);
}

/// One for each row; none where the schema has no columns.
inline layout::Tuples marks_of(const std::vector<std::vector<float>>& rows,
                               const layout::Schema& schema) {
  layout::Tuples marks;
  for (const std::vector<float>& row : rows) {
    if (schema.empty()) break;
    append_mark(row.data(), schema, marks.bytes);
    marks.ends.push_back(marks.bytes.size());
  }
  return marks;
}

inline void expect_mark(std::span<const std::byte> tuple, const void* row,
                        const layout::Schema& schema) {
  const std::vector<layout::Column>& columns = schema.columns();
  const auto count = load_unaligned<std::uint16_t>(tuple.data());
  ASSERT_LE(count, columns.size());
  ASSERT_TRUE(count == columns.size() || columns[count].nullable) << "a value is lost";
  std::vector<std::byte> expected;
  append_mark(static_cast<const float*>(row),
              layout::Schema({columns.begin(), columns.begin() + count}), expected);
  ASSERT_EQ(std::vector<std::byte>(tuple.begin(), tuple.end()), expected);
}

/// All live rows of the view have their marks, or those of the columns that there were when they
/// were inserted.
inline void expect_marks(const View& view, std::size_t row_bytes) {
  for (const View::Fresh& fresh : view.memtables) {
    for (NodeId row = 0; row < fresh.count; ++row) {
      if (fresh.out->contains(row)) continue;
      expect_mark(fresh.memtable->attributes(row), fresh.memtable->row(row), *view.schema);
    }
  }
  std::vector<float> vector(row_bytes / sizeof(float));
  for (const View::Bulk& bulk : view.segments) {
    for (NodeId row = 0; row < bulk.segment->rows(); ++row) {
      if (bulk.out->contains(row)) continue;
      ASSERT_TRUE(
          bulk.segment->folder()
              .rows()
              .read(row, std::as_writable_bytes(std::span(vector)), changes::Patience::kWithoutEnd)
              .ok());
      expect_mark(bulk.segment->attributes().read(row), vector.data(), *view.schema);
    }
  }
}

}  // namespace farvec::collection
