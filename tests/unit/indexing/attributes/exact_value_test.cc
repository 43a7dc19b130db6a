#include "indexing/attributes/exact_value.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/error.h"
#include "tests/unit/message_of.h"

namespace farvec::indexing {
namespace {

using layout::Column;
using layout::ColumnType;
using layout::Value;
using tests::message_of;
using Texts = std::vector<std::string>;

Column column_of(ColumnType type) {
  return {"c", type, true};
}

const std::vector<ColumnType>& all_types() {
  static const std::vector<ColumnType> types{
      ColumnType::u64,       ColumnType::i64,    ColumnType::f64, ColumnType::boolean,
      ColumnType::timestamp, ColumnType::string, ColumnType::set, ColumnType::bytes};
  return types;
}

/// Expects that the types take the value as these, and that all other types refuse it.
template <typename Given>
void expect_only(const Given& given, const std::vector<std::pair<ColumnType, Value>>& expected) {
  for (const ColumnType type : all_types()) {
    const Value* is = nullptr;
    for (const auto& [taker, value] : expected) is = taker == type ? &value : is;
    if (is != nullptr) {
      EXPECT_EQ(exact_value(given, column_of(type)), *is) << to_string(type);
    } else {
      const std::string message = message_of([&] { (void)exact_value(given, column_of(type)); });
      EXPECT_NE(message.find(fmt::format("column 'c' is {}, and", to_string(type))),
                std::string::npos)
          << message;
    }
  }
}

TEST(ExactValue, OnlyWhatStaysTheSameIsTaken) {
  expect_only(true, {{ColumnType::boolean, true}});
  expect_only(7ul, {{ColumnType::u64, 7ul}, {ColumnType::i64, 7l}, {ColumnType::f64, 7.0}});
  expect_only(-7l, {{ColumnType::i64, -7l}, {ColumnType::f64, -7.0}});
  expect_only(7l, {{ColumnType::u64, 7ul}, {ColumnType::i64, 7l}, {ColumnType::f64, 7.0}});
  expect_only(1.5, {{ColumnType::f64, 1.5}});
  expect_only(1.0, {{ColumnType::f64, 1.0}});
  expect_only(std::string("x"),
              {{ColumnType::string, std::string("x")}, {ColumnType::bytes, std::string("x")}});
  expect_only(std::string("1970-01-01T00:00:01Z"),
              {{ColumnType::string, std::string("1970-01-01T00:00:01Z")},
               {ColumnType::bytes, std::string("1970-01-01T00:00:01Z")},
               {ColumnType::timestamp, 1'000'000l}});
}

TEST(ExactValue, AnIntegerIsADoubleOnlyWhereItIsOne) {
  const Column column = column_of(ColumnType::f64);
  constexpr std::uint64_t kEnd = std::uint64_t{1} << 53;
  EXPECT_EQ(exact_value(kEnd, column), Value(9007199254740992.0));
  EXPECT_EQ(exact_value(kEnd + 2, column), Value(9007199254740994.0));
  EXPECT_EQ(exact_value(std::uint64_t{1} << 63, column), Value(9223372036854775808.0));
  EXPECT_EQ(exact_value(std::numeric_limits<std::int64_t>::min(), column),
            Value(-9223372036854775808.0));
  for (const std::uint64_t value : {kEnd + 1, std::numeric_limits<std::uint64_t>::max()}) {
    EXPECT_THROW((void)exact_value(value, column), Error) << value;
  }
  EXPECT_EQ(message_of([&] { (void)exact_value(-9007199254740993l, column); }),
            "column 'c' is f64, and no f64 is exactly -9007199254740993: round it, or write it "
            "with an exponent");
}

TEST(ExactValue, IntegersOutOfRangeAreRefused) {
  const std::uint64_t above = std::uint64_t{1} << 63;
  EXPECT_EQ(message_of([&] { (void)exact_value(above, column_of(ColumnType::i64)); }),
            "column 'c' is i64, and the value is 9223372036854775808");
  EXPECT_EQ(message_of([] { (void)exact_value(-1l, column_of(ColumnType::u64)); }),
            "column 'c' is u64, and the value is -1");
  EXPECT_EQ(message_of([] { (void)exact_value(1.0, column_of(ColumnType::i64)); }),
            "column 'c' is i64, and the value is 1.0");
}

TEST(ExactValue, TextHasTheTypeOfItsColumn) {
  const auto read = [](const char* text, ColumnType type) {
    return value_of_text(text, column_of(type));
  };
  EXPECT_EQ(read("18446744073709551615", ColumnType::u64), Value(~0ul));
  EXPECT_EQ(read("-9223372036854775808", ColumnType::i64),
            Value(std::numeric_limits<std::int64_t>::min()));
  EXPECT_EQ(read("-0.25", ColumnType::f64), Value(-0.25));
  EXPECT_EQ(read("1e300", ColumnType::f64), Value(1e300));
  EXPECT_EQ(read("5", ColumnType::f64), Value(5.0));
  EXPECT_EQ(read("-5", ColumnType::f64), Value(-5.0));
  EXPECT_EQ(read("True", ColumnType::boolean), Value(true));
  EXPECT_EQ(read("false", ColumnType::boolean), Value(false));
  EXPECT_EQ(read("1970-01-02", ColumnType::timestamp), Value(86'400'000'000l));
  EXPECT_EQ(read("a|b|a", ColumnType::string), Value(std::string("a|b|a")));
  EXPECT_EQ(read("role::program|x", ColumnType::set), Value(Texts{"role::program", "x"}));
  EXPECT_EQ(read("", ColumnType::set), Value(Texts{}));
  EXPECT_EQ(read("a||", ColumnType::set), Value(Texts{"a", "", ""}));
}

TEST(ExactValue, TextThatIsNoSuchValueIsRefused) {
  const std::vector<std::pair<ColumnType, std::vector<const char*>>> wrong{
      {ColumnType::u64, {"-1", "1.0", "1e3", " 1", "1 ", "+1", "0x1", "", "18446744073709551616"}},
      {ColumnType::i64, {"9223372036854775808", "-9223372036854775809", "1.5", "one", "-", "--1"}},
      {ColumnType::f64,
       {"nan", "inf", "-inf", "1e999", "1,5", "0x1p3", "", "e", "1e", "-", "9007199254740993",
        "18446744073709551616"}},
      {ColumnType::boolean, {"1", "yes", "t", "", "truee"}},
      {ColumnType::timestamp, {"0", "yesterday", "2024-02-30"}}};
  for (const auto& [type, texts] : wrong) {
    for (const char* text : texts) {
      EXPECT_THROW((void)value_of_text(text, column_of(type)), Error)
          << to_string(type) << " " << text;
    }
  }
}

TEST(ExactValue, MessagesShowWhatIsThere) {
  EXPECT_EQ(shown_text("it's"), "'it's'");
  EXPECT_EQ(shown_text(std::string_view("a\n\0", 3)), "'a\\n\\u0000'");
  EXPECT_EQ(shown_text("\xff"), "'\\ufffd'");
  EXPECT_EQ(shown_text(std::string(100, 'x')), "'" + std::string(60, 'x') + "'...");
}

TEST(ExactValue, AnUnknownColumnIsRefusedWithTheSchema) {
  const layout::Schema schema = layout::parse_schema("price: i64, tags: set");
  EXPECT_EQ(require_column(schema, "tags"), 1u);
  EXPECT_EQ(message_of([&] { (void)require_column(schema, "Tags"); }),
            "there is no column 'Tags': the schema is price: i64, tags: set");
  EXPECT_EQ(message_of([] { (void)require_column({}, "tags"); }),
            "there is no column 'tags': the schema has none");
}

}  // namespace
}  // namespace farvec::indexing
