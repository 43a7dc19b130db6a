#include "changes/column_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/status_error.h"
#include "tests/unit/message_of.h"

namespace farvec::changes {
namespace {

using layout::Value;
using ::testing::HasSubstr;

layout::Schema schema() {
  return layout::parse_schema("price: i64 not null, name: string, tags: set");
}

layout::Tuples tuples_of(const char* columns, const std::vector<std::vector<Value>>& rows) {
  layout::Tuples tuples;
  for (const auto& row : rows) tuples.append(layout::parse_schema(columns), row);
  return tuples;
}

TEST(ColumnValues, NameColumnsInAnyOrder) {
  const auto values =
      tuples_of("tags: set, price: i64",
                {{{}, std::int64_t{1}}, {std::vector<std::string>{"a"}, std::int64_t{2}}});
  EXPECT_EQ(check_values({{"tags", "price"}, values.view()}, schema()),
            (std::vector<std::size_t>{2, 0}));
}

TEST(ColumnValues, ThatDoNotFitAreNamed) {
  const auto says = [](const ColumnValues& update) {
    try {
      (void)check_values(update, schema());
    } catch (const StatusError& error) {
      EXPECT_EQ(error.code, StatusCode::invalid_argument);
      return std::string(error.what());
    }
    return std::string();
  };
  const auto price = tuples_of("price: i64", {{std::int64_t{1}}, {std::int64_t{2}}});
  EXPECT_EQ(says({{"price"}, price.view()}), "");
  EXPECT_THAT(says({{}, price.view()}), HasSubstr("no column came"));
  EXPECT_THAT(says({{"prise"}, price.view()}), HasSubstr("prise"));
  EXPECT_THAT(says({{"price", "price"}, price.view()}), HasSubstr("twice"));
  const auto nulls = tuples_of("price: i64", {{std::int64_t{1}}, {{}}});
  EXPECT_THAT(says({{"price"}, nulls.view()}),
              HasSubstr("row 1: column 'price' is null, and may not be"));
  EXPECT_EQ(says({{"name"}, tuples_of("name: string", {{{}}}).view()}), "");
  EXPECT_THAT(says({{"name"}, price.view()}), HasSubstr("row 0: its attributes are not sound"));
  const auto two = tuples_of("price: i64, name: string", {{std::int64_t{1}, {}}});
  EXPECT_THAT(says({{"price"}, two.view()}), HasSubstr("row 0: its attributes are not sound"));
  layout::Tuples lying = price;
  lying.ends[0] = lying.ends[1] + 5;
  EXPECT_THAT(says({{"price"}, lying.view()}), HasSubstr("row 0: its attributes end where"));
}

/// An older tuple is one of the first columns; missing columns would be null.
TEST(ColumnValues, OfFewerColumnsAreNull) {
  const auto none = tuples_of("", {{}});
  EXPECT_THAT(tests::message_of([&] {
                (void)check_values({{"price"}, none.view()}, schema());
              }),
              HasSubstr("column 'price' is null"));
}

}  // namespace
}  // namespace farvec::changes
