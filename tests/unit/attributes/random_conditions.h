// Rows and conditions at random, with a plain evaluator of its own that knows nothing of the code
// under test.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "layout/attributes/schema.h"
#include "layout/attributes/tuple.h"

namespace farvec::attributes {

struct PlainRow {
  std::uint64_t id = 0;
  std::vector<layout::Value> values;
};

/// 0: false, 1: unknown, 2: true.
using PlainTruth = int;

struct PlainCondition {
  std::string text;
  std::function<PlainTruth(const PlainRow&)> truth;
};

class RandomConditions {
 public:
  explicit RandomConditions(unsigned seed) : random_(seed) {}

  const layout::Schema& schema() const { return schema_; }
  /// Rows have the ids 10, 20, 30 and so on.
  std::vector<PlainRow> rows(std::size_t count, unsigned nulls_of_10 = 2);
  layout::Tuples tuples(const std::vector<PlainRow>& rows) const;
  PlainCondition condition(int depth);

 private:
  unsigned below(unsigned bound) { return static_cast<unsigned>(random_() % bound); }
  template <typename T>
  const T& one_of(const std::vector<T>& all) {
    return all[below(static_cast<unsigned>(all.size()))];
  }
  layout::Value value(layout::ColumnType type);
  PlainCondition test();
  PlainCondition number_test(const std::string& name, layout::ColumnType type,
                             std::function<std::optional<long double>(const PlainRow&)> value);
  PlainCondition text_test(std::size_t column);
  PlainCondition label_test(std::size_t column);
  std::pair<std::string, long double> literal(layout::ColumnType type);

  const layout::Schema schema_ = layout::parse_schema(
      "u: u64, i: i64, f: f64, b: bool, t: timestamp, s: string, tags: set, p: bytes, n: i64");
  std::mt19937 random_;
};

}  // namespace farvec::attributes
