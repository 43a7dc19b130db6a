#include "attributes/condition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "base/error.h"

namespace farvec::attributes {
namespace {

using layout::Value;
using testing::HasSubstr;
using testing::ThrowsMessage;

const layout::Schema& schema() {
  static const layout::Schema all = layout::parse_schema(
      "u: u64, i: i64, f: f64, b: bool, t: timestamp, s: string, tags: set, p: bytes");
  return all;
}

std::string canonical(std::string_view text) {
  return to_string(*parse_condition(text, schema()));
}

void says(std::string_view text, const char* what) {
  EXPECT_THAT([=] { (void)parse_condition(text, schema()); }, ThrowsMessage<Error>(HasSubstr(what)))
      << text.substr(0, 100);
}

TEST(Condition, HasOneTextForWhatIsWrittenInSeveralWays) {
  const std::vector<std::pair<const char*, std::vector<const char*>>> cases = {
      {"i = 3",
       {"i=3", " i  = +3", "(i = 3)", "i in (3)", "i = 3.0", "i between 3 and 3", "not i != 3",
        "not not i = 3", "i in (3, 3)", "i >= 3 and i <= 3", "i = 30e-1", "i = 3 or i = 3",
        "i = 3 and true", "i = 3 or false", "not (i <> 3)"}},
      {"i != 3", {"i <> 3", "not i = 3", "i not in (3)", "i not between 3 and 3", "i<3 or i>3"}},
      {"i <= 1", {"i < 1.5", "i < 2", "not i > 1", "i <= 1.999"}},
      {"i >= 2", {"i > 1.5", "i > 1", "i >= 1.5"}},
      {"i < -9223372036854775808",
       {"i = 1.5", "i between 2 and 1", "i > 9223372036854775807", "i = 9223372036854775808",
        "i < -9e99", "i = inf", "i = 1 and i = 2"}},
      {"i >= -9223372036854775808",
       {"i != 1.5", "i < inf", "i > -1e400", "not i > inf", "i < 9223372036854775808",
        "i > -9223372036854775808.5"}},
      {"u >= 0", {"u > -1", "u != -0.5", "u < 18446744073709551616", "u <= 18446744073709551615"}},
      {"u = 18446744073709551615", {"u > 18446744073709551614", "u >= 18446744073709551614.5"}},
      {"u = 0", {"u < 1", "u = -0", "u <= 0.5", "u = 0e5", "u = .0"}},
      {"i in (1, 5, 9)", {"i in (9,1,5)", "i = 9 or i = 1 or i = 5", "i in (5, 1.0, 9, 5, 2.5)"}},
      {"i between 1 and 3", {"i in (1, 2, 3)", "i >= 1 and i <= 3"}},
      {"i not in (1, 5)", {"not i in (5, 1)", "i != 1 and i != 5"}},
      {"i not between 1 and 3", {"i < 1 or i > 3", "not (i >= 1 and i <= 3)"}},
      {"f < 1.5", {"f<1.5", "not f >= 1.5"}},
      {"f <= 0.1", {"f <= .1", "f <= 1e-1"}},
      {"f = 0", {"f = -0.0", "f = 0e9", "f in (0.0, -0)"}},
      {"f = inf", {"f > 1.7976931348623157e308", "f >= INF"}},
      {"b", {"b = true", "not not b", "b != false", "b > false"}},
      {"not b", {"b = false", "b != true", "not b = true"}},
      {"t = '2024-05-01T00:00:00Z'",
       {"t = '2024-05-01'", "t = 1714521600000000", "t = '2024-05-01 02:00:00+02:00'",
        "t = '2024-04-30T22:30:00-01:30'"}},
      {"t < '2024-05-01T00:00:00Z'", {"t < '2024-05-01'", "not t >= '2024-05-01'"}},
      {"t = '1969-12-31T23:59:59.999999Z'", {"t = -1"}},
      {"s = 'a'", {"s in ('a')", "s between 'a' and 'a'", "not s != 'a'"}},
      {"s in ('', 'a''b')", {"s in ('a''b', '', '')"}},
      {"s >= 'b'", {"not s < 'b'"}},
      {"s < ''", {"s between 'b' and 'a'"}},
      {"tags contains any ('a')", {"tags contains all ('a', 'a')", "tags CONTAINS ANY ('a')"}},
      {"tags contains all ('a', 'b')", {"tags contains all ('b','a','b')"}},
      {"id = 7", {"ID = 7", "id in (7)", "id between 6.5 and 7.5"}},
      {"false",
       {"i in ()", "s in ()", "tags contains any ()", "id < 0", "id is null", "i = 1 and false",
        "not true", "id = 1.5"}},
      {"true",
       {"i not in ()", "tags contains all ()", "id >= 0", "i = 1 or true", "id is not null"}},
      {"i is null", {"not i is not null", "i IS NULL"}},
      {"i = 1 or b and s = 'x'", {"s = 'x' and b or i = 1", "(b and s = 'x') or i = 1"}},
      {"b and (i = 1 or s = 'x')", {"(s = 'x' or i = 1) and b and b"}},
  };
  for (const auto& [text, others] : cases) {
    EXPECT_EQ(canonical(text), text);
    for (const char* other : others) {
      EXPECT_EQ(canonical(other), text) << other;
    }
  }
}

TEST(Condition, ErrorsSayWhatAndWhere) {
  says("", "at its end, column 1: a condition is missing");
  says("  i = ", "at its end, column 7: column 'i' is i64, which is compared with a number");
  says("i = 3 and foo < 3",
       "at column 11, 'foo < 3': there is no column 'foo': the schema is u: u64");
  says("I = 3", "there is no column 'I'");
  says("i", "a comparison of column 'i' is missing");
  says("i = 'x'", "at column 5, ''x'': column 'i' is i64, which is compared with a number");
  says("s = 3", "column 's' is string, which is compared with a text in single quotes");
  says("b = 1", "column 'b' is bool, which is compared with true or false");
  says("i = true", "column 'i' is i64");
  says("id = 'a'", "the id is u64, which is compared with a number");
  says("t = 'yesterday'", "this is no timestamp");
  says("t < '2024-04-30T23:59:59.9999999Z'", "this is no timestamp");
  says("t = true", "column 't' is timestamp, which is compared with '2024-05-01'");
  says("t = '2024-02-30'", "this is no timestamp");
  says("p = 'x'", "column 'p' is bytes, which can be asked for 'is null' alone");
  says("tags = 'x'", "at column 6, '= 'x'': column 'tags' is a set");
  says("s contains any ('x')", "column 's' is string, and only a set contains something");
  says("i prefix 'x'", "column 'i' is i64, and only a string has a prefix");
  says("tags contains ('x')", "'any' or 'all' is missing");
  says("i == 3", "equality is written with one '='");
  says("i = null", "write 'is null' or 'is not null'");
  says("i = 3 i = 4", "at column 7, 'i = 4': the condition goes on");
  says("(i = 3", "at its end, column 7: ')' is missing");
  says("i in (1, )", "column 'i' is i64");
  says("i in 1", "'(' is missing");
  says("i between 1 or 2", "'and' is missing");
  says("i not 3", "'between' is missing");
  says("i is 3", "'null' is missing");
  says("s = 'abc", "at column 5, ''abc': the text has no quote at its end");
  says("\"s\" = 'a'", "texts are written in single quotes");
  says("i = 3 ; b", "at column 7, '; b': this is no part of a condition");
  says("i = 1.5.2", "this is no number");
  says("i = 1e", "the exponent of the number has no digits");
  says("i = 12abc", "this is no number");
  says("i = -", "this is no number");
  says("i = " + std::string(1001, '1'), "more than 1,000 characters");
  says("s = '\xc3\xa9' and \xc3\xa9 = 3", "at column 13, '\xc3\xa9 = 3'");
  says("s = '\xc3'", "the condition is no UTF-8");
  says(std::string("s = 'a\0b'", 9), "at column 5, ''a b'': a text with a zero byte");
  says(std::string("i = 3\0", 6), "this is no part of a condition");
  EXPECT_THAT([] { (void)parse_condition("price = 3", layout::Schema()); },
              ThrowsMessage<Error>(HasSubstr("the rows have no attributes")));
}

std::string repeated(std::string_view part, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += part;
  return text;
}

std::string list_of(std::size_t count) {
  std::string text = "i in (";
  for (std::size_t i = 0; i < count; ++i) text += (i == 0 ? "" : ",") + std::to_string(i * 7919);
  return text + ")";
}

TEST(Condition, HasBounds) {
  EXPECT_EQ(canonical(list_of(kMostTerms)).substr(0, 17), "i in (0, 7919, 15");
  EXPECT_EQ(canonical(canonical(list_of(kMostTerms))), canonical(list_of(kMostTerms)));
  says(list_of(kMostTerms + 1), "more than 10000 literals");
  says("b" + repeated(" and b", kMostTerms), "more than 10000 literals");
  EXPECT_EQ(canonical(repeated("(", kMostNesting) + "b" + repeated(")", kMostNesting)), "b");
  EXPECT_EQ(canonical(repeated("not ", kMostNesting) + "b"), "b");
  says(repeated("(", kMostNesting + 1) + "b", "more than 100 parentheses and 'not'");
  says(repeated("not ", 10'000) + "b", "more than 100 parentheses and 'not'");
  says(repeated("(", 10'000) + "b" + repeated(")", 10'000), "at column 101");
  says("b and " + repeated(" ", kMostConditionBytes) + "b", "more than 1048576");
  const std::string longest = "s = '" + repeated("x", kMostConditionBytes - 6) + "'";
  EXPECT_EQ(canonical(longest), longest);
}

/// A nesting that nothing simplifies, as deep as it may be.
TEST(Condition, IsAsDeepWhenItIsReadAgain) {
  std::string text = "i = 1";
  for (std::size_t i = 0; i < kMostNesting / 2; ++i) {
    text = "not (" + text + (i % 2 == 0 ? " and s = '" : " or s = '") + std::to_string(i) + "')";
  }
  const std::string once = canonical(text);
  EXPECT_EQ(canonical(once), once);
}

std::vector<std::byte> tuple_of(const std::vector<Value>& values) {
  std::vector<std::byte> bytes;
  layout::append_tuple(schema(), values, bytes);
  return bytes;
}

Truth truth_of(std::string_view text, const std::vector<std::byte>& tuple, std::uint64_t id = 7) {
  return evaluate(*parse_condition(text, schema()), layout::Tuple(tuple), id);
}

TEST(Condition, IsAskedOfARow) {
  const auto row =
      tuple_of({std::uint64_t{5}, std::int64_t{-5}, 0.5, true, std::int64_t{-1},
                std::string("it's"), std::vector<std::string>{"a", "role::x"}, std::string("raw")});
  for (const char* text : {"u = 5",
                           "i = -5",
                           "i < 0",
                           "i > -5.5",
                           "f = 0.5",
                           "f between 0.4 and 0.6",
                           "b",
                           "t < '1970-01-01'",
                           "t = '1969-12-31T23:59:59.999999Z'",
                           "t > '1969-12-31T23:59:59.999998'",
                           "s = 'it''s'",
                           "s prefix 'it'",
                           "s prefix ''",
                           "s > 'it'",
                           "s <= 'it''s'",
                           "s between 'a' and 'z'",
                           "s in ('x', 'it''s')",
                           "tags contains any ('role::x', 'nothing')",
                           "tags contains all ('a', 'role::x')",
                           "p is not null",
                           "id = 7",
                           "id in (3, 7)",
                           "id < 7.5",
                           "not (u = 4) and (false or id != 8)"}) {
    EXPECT_EQ(truth_of(text, row), Truth::yes) << text;
    EXPECT_EQ(truth_of("not (" + std::string(text) + ")", row), Truth::no) << text;
  }
}

TEST(Condition, ComparisonsWithNullAreUnknown) {
  const auto row = tuple_of(std::vector<Value>(8));
  const std::vector<std::byte> old(2);  // of no columns
  for (const auto& tuple : {row, old}) {
    for (const char* text :
         {"u = 5", "i != 5", "f < 1 or f >= 1", "u >= 0", "i between 2 and 1", "b", "not b",
          "t = 0", "s = 'a'", "s >= ''", "not s prefix 'a'", "tags contains any ('a')",
          "not tags contains all ('a', 'b')", "i = 1 and i = 2", "b or false", "b and true"}) {
      EXPECT_EQ(truth_of(text, tuple), Truth::unknown) << text;
    }
    for (const char* text : {"i is null", "p is null", "b or true", "b or s is null",
                             "not (b and false)", "id = 7", "i not in ()"}) {
      EXPECT_EQ(truth_of(text, tuple), Truth::yes) << text;
    }
    for (const char* text : {"i is not null", "b and false", "not (b or true)", "i in ()"}) {
      EXPECT_EQ(truth_of(text, tuple), Truth::no) << text;
    }
  }
}

TEST(Condition, NumbersAreComparedExactly) {
  const auto with_f = [](double f) {
    std::vector<Value> values(8);
    values[2] = f;
    return tuple_of(values);
  };
  const double large = 9007199254740992.0;  // 2^53
  EXPECT_EQ(truth_of("f = 9007199254740992", with_f(large)), Truth::yes);
  EXPECT_EQ(truth_of("f = 9007199254740993", with_f(large)), Truth::no);
  EXPECT_EQ(truth_of("f < 9007199254740993", with_f(large)), Truth::yes);
  EXPECT_EQ(truth_of("f > 9007199254740993", with_f(large + 2)), Truth::yes);
  EXPECT_EQ(truth_of("f > -9007199254740993", with_f(-large)), Truth::yes);
  EXPECT_EQ(truth_of("f < -9007199254740993", with_f(-large - 2)), Truth::yes);
  EXPECT_EQ(truth_of("f < 18446744073709551615", with_f(18446744073709551616.0)), Truth::no);
  EXPECT_EQ(truth_of("f > 18446744073709551615", with_f(18446744073709551616.0)), Truth::yes);
  EXPECT_EQ(truth_of("f = 100000000000000000000000", with_f(1e23)), Truth::no);
  EXPECT_EQ(truth_of("f = 1e23", with_f(1e23)), Truth::yes);
  EXPECT_EQ(truth_of("f < 100000000000000000000000", with_f(1e23)), Truth::yes);
  EXPECT_EQ(truth_of("f > 1e400", with_f(std::numeric_limits<double>::infinity())), Truth::yes);
  EXPECT_EQ(truth_of("f < 1e400", with_f(std::numeric_limits<double>::max())), Truth::yes);
  EXPECT_EQ(truth_of("f > 1e-400", with_f(0.0)), Truth::no);
  EXPECT_EQ(truth_of("f > -1e-400", with_f(0.0)), Truth::yes);
  EXPECT_EQ(truth_of("f < -1e-400", with_f(-5e-324)), Truth::yes);
  EXPECT_EQ(truth_of("f >= 5e-324", with_f(5e-324)), Truth::yes);
  EXPECT_EQ(truth_of("f = -0.0", with_f(0.0)), Truth::yes);
  EXPECT_EQ(truth_of("f = inf", with_f(std::numeric_limits<double>::infinity())), Truth::yes);
  EXPECT_EQ(truth_of("f = -inf", with_f(-std::numeric_limits<double>::infinity())), Truth::yes);
}

TEST(Condition, TellsWhatMeansAnotherThingApart) {
  const std::vector<const char*> texts = {"i = 1",
                                          "u = 1",
                                          "id = 1",
                                          "i != 1",
                                          "i < 1",
                                          "s = 'i'",
                                          "s prefix 'i'",
                                          "s > 'i'",
                                          "s >= 'i'",
                                          "s < 'i'",
                                          "s <= 'i'",
                                          "tags contains any ('a', 'b')",
                                          "tags contains all ('a', 'b')",
                                          "i is null",
                                          "i is not null",
                                          "b",
                                          "not b",
                                          "true",
                                          "false",
                                          "b or i = 1",
                                          "b and i = 1",
                                          "s in ('a'', ''b')",
                                          "s in ('a', 'b')"};
  for (const char* one : texts) {
    for (const char* other : texts) {
      EXPECT_EQ(*parse_condition(one, schema()) == *parse_condition(other, schema()), one == other);
      EXPECT_EQ(canonical(one) == canonical(other), one == other);
    }
  }
}

}  // namespace
}  // namespace farvec::attributes
