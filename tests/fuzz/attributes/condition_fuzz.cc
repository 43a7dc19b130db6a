// Any bytes are a condition, whose text says all of it, or an Error. The condition is asked of rows
// at the edges, alone and together.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attributes/columns.h"
#include "attributes/condition.h"
#include "base/check.h"
#include "tests/fuzz/fuzz_file.h"

namespace {

using namespace farvec;
using layout::Value;

const layout::Schema& schema() {
  static const layout::Schema columns = layout::parse_schema(
      "u: u64, i: i64, f: f64, b: bool, t: timestamp, s: string, l: set, p: bytes");
  return columns;
}

/// A row of nulls, one of the least values, and one of large ones.
layout::Tuples rows() {
  layout::Tuples tuples;
  const std::vector<std::vector<Value>> values = {
      std::vector<Value>(8),
      {std::uint64_t{0}, INT64_MIN, -1e308, false, INT64_MIN, std::string(),
       std::vector<std::string>(), std::string()},
      {UINT64_MAX, INT64_MAX, 1e308, true, INT64_MAX, std::string("a"),
       std::vector<std::string>{"a", "b"}, std::string("raw")}};
  for (const auto& row : values) tuples.append(schema(), row);
  return tuples;
}

void expect_same_rows(const attributes::Condition& condition) {
  static const layout::Tuples tuples = rows();
  static const attributes::Columns columns(schema(), tuples.view());
  const attributes::IdLookup ids{
      [](std::uint64_t id) { return id < 3 ? std::optional<NodeId>(id) : std::nullopt; },
      [](NodeId row) { return std::uint64_t{row}; }};
  const auto matching = columns.matching(condition, ids);
  for (NodeId row = 0; row < 3; ++row) {
    const layout::Tuple tuple(tuples.view().row(row));
    const bool is_true = evaluate(condition, tuple, row) == attributes::Truth::yes;
    FARVEC_CHECK(matching.contains(row) == is_true);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  attributes::ConditionPointer condition;
  fuzz::expect_error_at_most([&] { condition = attributes::parse_condition(text, schema()); });
  if (condition == nullptr) return 0;
  const std::string canonical = to_string(*condition);
  const auto again = attributes::parse_condition(canonical, schema());
  FARVEC_CHECK(to_string(*again) == canonical);
  FARVEC_CHECK(*again == *condition);
  expect_same_rows(*condition);
  return 0;
}
