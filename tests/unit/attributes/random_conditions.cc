#include "tests/unit/attributes/random_conditions.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace farvec::attributes {
namespace {

using layout::ColumnType;
using layout::Value;
using Number = long double;  // holds every u64, i64 and double as it is
using Texts = std::vector<std::string>;

const Texts kTexts{"", "a", "aa", "ab", "b", "it's", "caf\xc3\xa9", "z"};

std::string in_quotes(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? "''" : std::string(1, c);
  return result + "'";
}

PlainTruth plain(bool value) {
  return value ? 2 : 0;
}

/// Returns the truth of `ask` for a value; unknown where it is null.
template <typename T, typename Ask>
PlainTruth asked(const PlainRow& row, std::size_t column, const Ask& ask) {
  const Value& value = row.values[column];
  return std::holds_alternative<std::monostate>(value) ? 1 : plain(ask(std::get<T>(value)));
}

template <typename T>
bool compares(const T& one, unsigned comparison, const T& other) {
  switch (comparison) {
    case 0:
      return one == other;
    case 1:
      return one != other;
    case 2:
      return one < other;
    case 3:
      return one <= other;
    case 4:
      return one > other;
    default:
      return one >= other;
  }
}

const Texts kComparisons{"=", "!=", "<", "<=", ">", ">="};

std::optional<Number> plain_number(const Value& value) {
  if (const auto* v = std::get_if<std::uint64_t>(&value)) return static_cast<Number>(*v);
  if (const auto* v = std::get_if<std::int64_t>(&value)) return static_cast<Number>(*v);
  if (const auto* v = std::get_if<double>(&value)) return static_cast<Number>(*v);
  if (const auto* v = std::get_if<bool>(&value)) return *v ? 1 : 0;
  return std::nullopt;
}

std::string listed(const Texts& texts) {
  std::string list;
  for (const std::string& text : texts) list += (list.empty() ? "" : ", ") + text;
  return "(" + list + ")";
}

}  // namespace

Value RandomConditions::value(ColumnType type) {
  using Limits = std::numeric_limits<std::int64_t>;
  const auto small = static_cast<std::int64_t>(below(7));
  const double inf = std::numeric_limits<double>::infinity();
  switch (type) {
    case ColumnType::u64:
      return one_of(std::vector<std::uint64_t>{0, 1, 2, 5, 18446744073709551615u,
                                               static_cast<std::uint64_t>(small)});
    case ColumnType::i64:
      return one_of(
          std::vector<std::int64_t>{Limits::min(), -1, 0, 1, Limits::max(), small - 3, small});
    case ColumnType::timestamp:
      return one_of(std::vector<std::int64_t>{-1, 0, 1714521600000000, 1714521600000001, small});
    case ColumnType::f64:
      return one_of(std::vector<double>{-inf, -1.5, -0.0, 0.0, 0.1, 1.5, 9007199254740992.0, inf,
                                        static_cast<double>(small) / 4});
    case ColumnType::boolean:
      return below(2) == 0;
    case ColumnType::string:
      return one_of(kTexts);
    case ColumnType::bytes:
      return std::string("\0\xff", 2);
    case ColumnType::set:
      break;
  }
  Texts labels;
  for (unsigned n = below(4); n > 0; --n) labels.push_back(kTexts[1 + below(7)]);
  return labels;
}

std::vector<PlainRow> RandomConditions::rows(std::size_t count, unsigned nulls_of_10) {
  std::vector<PlainRow> rows;
  for (std::size_t i = 0; i < count; ++i) {
    PlainRow row{10 * (i + 1), {}};
    for (const layout::Column& column : schema_.columns()) {
      row.values.push_back(below(10) < nulls_of_10 ? Value{} : value(column.type));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

layout::Tuples RandomConditions::tuples(const std::vector<PlainRow>& rows) const {
  layout::Tuples tuples;
  for (const PlainRow& row : rows) tuples.append(schema_, row.values);
  return tuples;
}

std::pair<std::string, Number> RandomConditions::literal(ColumnType type) {
  using Literal = std::pair<std::string, Number>;
  static const std::vector<Literal> numbers{{"-1", -1},
                                            {"0", 0},
                                            {"-0.0", 0},
                                            {"1", 1},
                                            {"+2", 2},
                                            {"5.0", 5},
                                            {"1.5", 1.5},
                                            {"-1.5", -1.5},
                                            {".25", .25},
                                            {"1e1", 10},
                                            {"0.1", 0.1},
                                            {"inf", std::numeric_limits<Number>::infinity()},
                                            {"-inf", -std::numeric_limits<Number>::infinity()},
                                            {"1e30", 1e30L},
                                            {"9007199254740993", 9007199254740993.0L},
                                            {"9223372036854775807", 9223372036854775807.0L},
                                            {"-9223372036854775808", -9223372036854775808.0L},
                                            {"-9223372036854775809.5", -9223372036854775810.0L},
                                            {"18446744073709551615", 18446744073709551615.0L},
                                            {"18446744073709551616", 18446744073709551616.0L}};
  static const std::vector<Literal> moments{{"'1970-01-01'", 0},
                                            {"'2024-05-01T02:00:00+02:00'", 1714521600000000.0L},
                                            {"'2024-05-01 00:00:00.000001'", 1714521600000001.0L},
                                            {"'1969-12-31T23:59:59.999999Z'", -1.0L}};
  if (type == ColumnType::boolean) return below(2) == 0 ? Literal("true", 1) : Literal("FALSE", 0);
  if (type == ColumnType::timestamp && below(2) == 0) return one_of(moments);
  return one_of(numbers);
}

PlainCondition RandomConditions::number_test(
    const std::string& name, ColumnType type,
    std::function<std::optional<Number>(const PlainRow&)> value) {
  const auto asking = [value](std::function<bool(Number)> ask) {
    return [value, ask = std::move(ask)](const PlainRow& row) {
      const auto number = value(row);
      return number ? plain(ask(*number)) : 1;
    };
  };
  const bool no = below(3) == 0;
  const std::string word = no ? " not" : "";
  if (below(3) == 0) {
    const auto low = literal(type);
    const auto high = literal(type);
    return {fmt::format("{}{} between {} and {}", name, word, low.first, high.first),
            asking([=](Number x) { return (x >= low.second && x <= high.second) != no; })};
  }
  if (below(3) == 0) {
    Texts texts;
    std::vector<Number> numbers;
    for (unsigned n = below(5) + 1; n > 0; --n) {
      const auto one = literal(type);
      texts.push_back(one.first);
      numbers.push_back(one.second);
    }
    return {fmt::format("{}{} IN {}", name, word, listed(texts)), asking([=](Number x) {
              return (std::find(numbers.begin(), numbers.end(), x) != numbers.end()) != no;
            })};
  }
  const unsigned comparison = below(6);
  const auto other = literal(type);
  return {fmt::format("{} {} {}", name, kComparisons[comparison], other.first),
          asking([=](Number x) { return compares(x, comparison, other.second); })};
}

PlainCondition RandomConditions::text_test(std::size_t column) {
  const std::string& name = schema_[column].name;
  const std::string one = one_of(kTexts);
  const std::string two = one_of(kTexts);
  const auto asking = [column](std::function<bool(const std::string&)> ask) {
    return [column, ask = std::move(ask)](const PlainRow& row) {
      return asked<std::string>(row, column, ask);
    };
  };
  switch (below(4)) {
    case 0:
      return {name + " prefix " + in_quotes(one),
              asking([=](const std::string& text) { return text.rfind(one, 0) == 0; })};
    case 1:
      return {fmt::format("{} not between {} and {}", name, in_quotes(one), in_quotes(two)),
              asking([=](const std::string& text) { return text < one || text > two; })};
    case 2:
      return {
          fmt::format("{} in {}", name, listed({in_quotes(one), in_quotes(two), in_quotes(one)})),
          asking([=](const std::string& text) { return text == one || text == two; })};
    default:
      break;
  }
  const unsigned comparison = below(6);
  return {fmt::format("{} {} {}", name, kComparisons[comparison], in_quotes(one)),
          asking([=](const std::string& text) { return compares(text, comparison, one); })};
}

PlainCondition RandomConditions::label_test(std::size_t column) {
  const bool all = below(2) == 0;
  Texts labels;
  Texts shown;
  for (unsigned n = below(3) + 1; n > 0; --n) {
    labels.push_back(one_of(kTexts));
    shown.push_back(in_quotes(labels.back()));
  }
  return {
      fmt::format("{} contains {} {}", schema_[column].name, all ? "all" : "any", listed(shown)),
      [=](const PlainRow& row) {
        return asked<Texts>(row, column, [&](const Texts& set) {
          const auto has = [&](const std::string& label) {
            return std::find(set.begin(), set.end(), label) != set.end();
          };
          return all ? std::all_of(labels.begin(), labels.end(), has)
                     : std::any_of(labels.begin(), labels.end(), has);
        });
      }};
}

PlainCondition RandomConditions::test() {
  const std::size_t column = below(static_cast<unsigned>(schema_.size()) + 2);
  if (column == schema_.size()) {
    const std::uint64_t id = 10 * below(300) + below(2);
    if (below(2) == 0)
      return {fmt::format("id = {}", id), [=](const PlainRow& row) { return plain(row.id == id); }};
    return number_test("id", ColumnType::u64,
                       [](const PlainRow& row) { return static_cast<Number>(row.id); });
  }
  if (column > schema_.size()) {
    const bool value = below(2) == 0;
    return {value ? "true" : "false", [=](const PlainRow&) { return plain(value); }};
  }
  const auto& [name, type, nullable, tenant] = schema_[column];
  if (type == ColumnType::bytes || below(8) == 0) {
    const bool no = below(2) == 0;
    return {name + (no ? " is not null" : " is null"), [=](const PlainRow& row) {
              return plain(std::holds_alternative<std::monostate>(row.values[column]) != no);
            }};
  }
  if (type == ColumnType::string) return text_test(column);
  if (type == ColumnType::set) return label_test(column);
  const auto value = [column](const PlainRow& row) { return plain_number(row.values[column]); };
  if (type == ColumnType::boolean && below(2) == 0) {
    return {name, [=](const PlainRow& row) { return value(row) ? plain(*value(row) != 0) : 1; }};
  }
  return number_test(name, type, value);
}

PlainCondition RandomConditions::condition(int depth) {
  if (depth == 0 || below(4) == 0) return test();
  const PlainCondition one = condition(depth - 1);
  if (below(4) == 0) {
    return {"not (" + one.text + ")", [one](const PlainRow& row) { return 2 - one.truth(row); }};
  }
  const PlainCondition other = condition(depth - 1);
  const bool both = below(2) == 0;
  const bool bare = both ? false : below(2) == 0;
  std::string text =
      both ? "(" + one.text + ") and (" + other.text + ")" : one.text + " or " + other.text;
  if (!both && !bare) text = "(" + text + ")";
  return {std::move(text), [=](const PlainRow& row) {
            return both ? std::min(one.truth(row), other.truth(row))
                        : std::max(one.truth(row), other.truth(row));
          }};
}

}  // namespace farvec::attributes
