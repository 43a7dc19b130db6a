#include "layout/attributes/tuple.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "base/error.h"

namespace farvec::layout {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;
using Texts = std::vector<std::string>;

Schema all_types() {
  return parse_schema(
      "u: u64, i: i64, f: f64, b: bool, t: timestamp, s: string, l: set, p: bytes, n: i64");
}

std::vector<Value> some_values() {
  return {std::uint64_t{18446744073709551615u},
          std::int64_t{-5},
          0.5,
          true,
          std::int64_t{-1},
          std::string("caf\xc3\xa9"),
          Texts{"b", "a", "b"},
          std::string("\0\xff", 2),
          Value{}};
}

std::vector<std::byte> tuple_of(const Schema& schema, const std::vector<Value>& values) {
  std::vector<std::byte> bytes;
  append_tuple(schema, values, bytes);
  return bytes;
}

TEST(Tuple, HasEveryValue) {
  const Schema schema = all_types();
  const std::vector<Value> values = some_values();
  const std::vector<std::byte> bytes = tuple_of(schema, values);
  check_tuple(bytes, schema, "it");
  const Tuple tuple(bytes);
  for (std::size_t i = 0; i < schema.size(); ++i) {
    const Value expected = i == 6 ? Value(Texts{"a", "b"}) : values[i];
    EXPECT_EQ(tuple.value(schema, i), expected) << i;
    EXPECT_EQ(tuple.is_null(i), i == 8) << i;
  }
  EXPECT_EQ(tuple.text(5), "caf\xc3\xa9");
  ASSERT_EQ(tuple.labels(6).size(), 2u);
  EXPECT_EQ(tuple.labels(6)[1], "b");
}

TEST(Tuple, OfAnOlderSchemaHasNullsInTheNewColumns) {
  const Schema schema = parse_schema("a: i64");
  const std::vector<std::byte> bytes = tuple_of(schema, {std::int64_t{7}});
  const Schema longer = parse_schema("a: i64, b: string");
  check_tuple(bytes, longer, "it");
  EXPECT_TRUE(Tuple(bytes).is_null(1));
  EXPECT_THAT([&] { check_tuple(bytes, parse_schema("a: i64, b: string not null"), "it"); },
              ThrowsMessage<Error>(HasSubstr("column 'b' is missing")));
  EXPECT_THAT([&] { check_tuple(bytes, Schema(), "it"); },
              ThrowsMessage<Error>(HasSubstr("count of columns")));
}

TEST(Tuple, OfNoColumnsIsThere) {
  const std::vector<std::byte> bytes = tuple_of(Schema(), {});
  EXPECT_EQ(bytes.size(), 2u);
  check_tuple(bytes, Schema(), "it");
}

TEST(Tuple, EqualValuesHaveEqualBytes) {
  const Schema schema = parse_schema("f: f64, l: set");
  EXPECT_EQ(tuple_of(schema, {-0.0, Texts{"x", "y", "x"}}),
            tuple_of(schema, {0.0, Texts{"y", "x"}}));
}

TEST(Tuple, RefusesWhatACallerMayNotBring) {
  const Schema schema = parse_schema("a: i64 not null, s: string, l: set, f: f64");
  const auto says = [&](const std::vector<Value>& values, const char* what) {
    std::vector<std::byte> bytes(3);
    EXPECT_THAT([&] { append_tuple(schema, values, bytes); },
                ThrowsMessage<Error>(HasSubstr(what)));
    EXPECT_EQ(bytes.size(), 3u);
  };
  const Value one = std::int64_t{1};
  says({Value{}, {}, {}, {}}, "column 'a' is null");
  says({1.0, {}, {}, {}}, "column 'a' is i64, and the value is f64");
  says({one, std::string("\xff"), {}, {}}, "column 's' is no UTF-8");
  says({one, std::string("a\0b", 3), {}, {}}, "column 's' has a zero byte");
  says({one, {}, Texts{"a", ""}, {}}, "a label of column 'l' is empty");
  says({one, {}, {}, std::numeric_limits<double>::quiet_NaN()}, "column 'f' is NaN");
  says({one, std::string(kMostTupleBytes, 'x'), {}, {}}, "more than 65536");
  says({one, std::string(kMostTupleBytes + 1, 'x'), {}, {}}, "more than 65536");
}

/// Whatever a byte becomes, a tuple that is accepted has values which make the very same tuple.
TEST(Tuple, DamageIsRefusedOrIsAnotherTuple) {
  const Schema schema = all_types();
  const std::vector<std::byte> whole = tuple_of(schema, some_values());
  std::mt19937 random(7);
  int refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::byte> bytes = whole;
    if (random() % 4 == 0) bytes.resize(random() % (whole.size() + 8));
    for (unsigned n = random() % 3 + 1; n > 0 && !bytes.empty(); --n) {
      bytes[random() % bytes.size()] = std::byte(random());
    }
    try {
      check_tuple(bytes, schema, "it");
    } catch (const Error&) {
      ++refused;
      continue;
    }
    const Tuple tuple(bytes);
    std::vector<Value> values;
    std::vector<Column> columns;
    for (std::size_t c = 0; c < load_unaligned<std::uint16_t>(bytes.data()); ++c) {
      values.push_back(tuple.value(schema, c));
      columns.push_back(schema[c]);
    }
    EXPECT_EQ(tuple_of(Schema(columns), values), bytes);
  }
  EXPECT_GT(refused, 1000);
}

TEST(Tuples, AreRowAfterRow) {
  const Schema schema = parse_schema("s: string");
  Tuples tuples;
  for (const char* text : {"one", "", "three"}) {
    tuples.append(schema, std::vector<Value>{std::string(text)});
  }
  const TupleView part = tuples.view().part(1, 2);
  ASSERT_EQ(part.count(), 2u);
  EXPECT_EQ(Tuple(part.row(0)).text(0), "");
  EXPECT_EQ(Tuple(part.row(1)).text(0), "three");
  EXPECT_EQ(Tuple(part.part(1, 1).row(0)).text(0), "three");
  EXPECT_EQ(tuples.view().part(0, 0).count(), 0u);
}

}  // namespace
}  // namespace farvec::layout
