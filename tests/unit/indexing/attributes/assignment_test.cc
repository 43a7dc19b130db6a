#include "indexing/attributes/assignment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/unit/indexing/attributes/random_attributes.h"
#include "tests/unit/message_of.h"

namespace farvec::indexing {
namespace {

using layout::Value;
using testing::HasSubstr;
using testing::StartsWith;
using Labels = std::vector<std::string>;

struct Assignments : testing::Test {
  // Columns u, i, f, b, t, s, l and p, of each type.
  const layout::Schema schema = tests::schema_of_all_types();

  Value value(const std::string& text) const { return parse_assignment(text, schema).value; }
  std::string wrong(const std::string& text) const {
    return tests::message_of([&] { (void)parse_assignment(text, schema); });
  }
};

TEST_F(Assignments, AreOfEveryType) {
  EXPECT_EQ(value("u = 18446744073709551615"), Value(~std::uint64_t{0}));
  EXPECT_EQ(value("i=-3"), Value(std::int64_t{-3}));
  EXPECT_EQ(value(" f =  1.5e3 "), Value(1500.0));
  EXPECT_EQ(value("f = 'Infinity'"), Value(HUGE_VAL));
  EXPECT_EQ(value("b = true"), Value(true));
  EXPECT_EQ(value("t = '1970-01-01T00:00:01Z'"), Value(std::int64_t{1'000'000}));
  EXPECT_EQ(value("s = 'text'"), Value(std::string("text")));
  EXPECT_EQ(value("l = ['b', \"a\"]"), Value(Labels{"b", "a"}));
  EXPECT_EQ(value("l = []"), Value(Labels{}));
  EXPECT_EQ(value("p = {'base64': 'AAE='}"), Value(std::string("\0\1", 2)));
  for (const char* const column : {"u", "i", "f", "b", "t", "s", "l", "p"}) {
    EXPECT_EQ(value(std::string(column) + " = null"), Value());
  }
  EXPECT_EQ(parse_assignment("s = ''", schema).column, 5u);
}

TEST_F(Assignments, HaveTextInEitherQuotes) {
  EXPECT_EQ(value("s = 'it''s'"), Value(std::string("it's")));
  EXPECT_EQ(value("s = \"it's\""), Value(std::string("it's")));
  EXPECT_EQ(value("s = 'a \"b\" \\n'"), Value(std::string("a \"b\" \\n")));
  EXPECT_EQ(value("s = \"a \\\"b\\\" '\\n\""), Value(std::string("a \"b\" '\n")));
  EXPECT_EQ(value("s = ''"), Value(std::string()));
  EXPECT_EQ(value("s = ''''"), Value(std::string("'")));
  EXPECT_EQ(value("s = 'a = b'"), Value(std::string("a = b")));
  EXPECT_EQ(value("s = 'ä'"), Value(std::string("ä")));
}

TEST_F(Assignments, SayWhatIsWrong) {
  EXPECT_THAT(wrong("i"), HasSubstr("no '='"));
  EXPECT_THAT(wrong(""), HasSubstr("no '='"));
  EXPECT_THAT(wrong("x = 1"), HasSubstr("no column 'x'"));
  EXPECT_THAT(wrong(" = 1"), HasSubstr("no column ''"));
  for (const char* const text : {"i =", "i = 1 2", "i = one", "s = text", "i = 1, \"u\": 2",
                                 "i = 1} {", "l = ['a'", "t = 2024-05-01", "s = \"a", "i = +1"}) {
    EXPECT_THAT(wrong(text), HasSubstr("is no value: write a number, 'text'")) << text;
  }
  EXPECT_THAT(wrong("s = 'a"), HasSubstr("the quote before 'a' has no end"));
  EXPECT_THAT(wrong("s = 'a''"), HasSubstr("no end"));
  EXPECT_THAT(wrong("i = 1.5"), HasSubstr("column 'i' is i64, and the value is 1.5"));
  EXPECT_THAT(wrong("i = 'a'"), HasSubstr("column 'i' is i64"));
  EXPECT_THAT(wrong("s = 3"), HasSubstr("column 's' is string"));
  EXPECT_THAT(wrong("l = ['a', 3]"), HasSubstr("labels are strings"));
  EXPECT_THAT(wrong("s = '\xff'"), HasSubstr("no UTF-8"));
}

TEST_F(Assignments, MakeOneRow) {
  const ColumnsOfRows row = parse_assignments({"s = 'a'", "i = null", "u = 3"}, schema);
  EXPECT_EQ(row.names, (std::vector<std::string>{"s", "i", "u"}));
  ASSERT_EQ(row.values.count(), 1u);
  const layout::Tuple tuple(row.values.view().row(0));
  EXPECT_EQ(tuple.text(0), "a");
  EXPECT_TRUE(tuple.is_null(1));
  EXPECT_EQ(tuple.word(2), 3u);
  const auto said = [&](const std::vector<std::string>& texts) {
    return tests::message_of([&] { (void)parse_assignments(texts, schema); });
  };
  EXPECT_THAT(said({"i = 1", "i = 2"}), StartsWith("'i = 2': column 'i' has a value already"));
  EXPECT_THAT(said({"i = 1", "x = 2"}), StartsWith("'x = 2': there is no column 'x'"));
  EXPECT_THAT(said({"l = ['']"}), HasSubstr("a label of column 'l' is empty"));
}

}  // namespace
}  // namespace farvec::indexing
