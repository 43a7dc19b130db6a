#include "layout/attributes/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "layout/attributes/tuple.h"

namespace farvec::layout {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Schema, IsReadAndWritten) {
  const Schema schema = parse_schema(" price:i64 , section : string  not null,tags: set");
  ASSERT_EQ(schema.size(), 3u);
  EXPECT_EQ(schema[0], (Column{"price", ColumnType::i64, true}));
  EXPECT_EQ(schema[1], (Column{"section", ColumnType::string, false}));
  EXPECT_EQ(to_string(schema), "price: i64, section: string not null, tags: set");
  EXPECT_EQ(parse_schema(to_string(schema)), schema);
  EXPECT_TRUE(parse_schema("  ").empty());
  EXPECT_EQ(schema.find("tags"), 2u);
  EXPECT_EQ(schema.find("Tags"), std::nullopt);
}

TEST(Schema, EveryTypeHasAWord) {
  for (int type = 1; type <= 8; ++type) {
    const auto column = static_cast<ColumnType>(type);
    EXPECT_EQ(parse_column_type(to_string(column)), column);
    EXPECT_EQ(is_scalar(column), type <= 5);
  }
}

TEST(Schema, RefusesWhatCannotBe) {
  const auto says = [](std::string_view text, const char* what) {
    EXPECT_THAT([=] { (void)parse_schema(text); }, ThrowsMessage<Error>(HasSubstr(what))) << text;
  };
  says("price", "has no type");
  says("price: int", "'int' is no type");
  says("price: i64,", "has no type");
  says(": i64", "has 0 bytes");
  says("9lives: i64", "is not a letter");
  says("a b: i64", "is not a letter");
  says("And: i64", "a word of conditions");
  says("ID: u64", "a word of conditions");
  says("a: i64, a: f64", "two columns of the name 'a'");
  says(std::string(65, 'a') + ": i64", "has 65 bytes");
  std::string many = "c0: i64";
  for (int i = 1; i < 257; ++i) many += ", c" + std::to_string(i) + ": i64";
  says(many, "257 columns");
}

TEST(Schema, NamesTheColumnsThereAre) {
  EXPECT_THAT([] { (void)parse_schema("a: i64, b: set").require("c"); },
              ThrowsMessage<Error>(HasSubstr("no column 'c': the schema is a: i64, b: set")));
  EXPECT_THAT([] { (void)Schema().require("c"); },
              ThrowsMessage<Error>(HasSubstr("the rows have no attributes")));
}

TEST(Schema, HasOneColumnOfTenantsAtMost) {
  const Schema schema = parse_schema("price: i64, owner:  u64   tenant");
  EXPECT_EQ(schema.tenant(), 1u);
  EXPECT_FALSE(schema[1].nullable);
  EXPECT_EQ(to_string(schema), "price: i64, owner: u64 tenant");
  EXPECT_EQ(parse_schema("owner: u64 not null tenant, price: i64")[0], schema[1]);
  EXPECT_EQ(parse_schema("owner: u64 tenant not null, price: i64")[0], schema[1]);
  EXPECT_EQ(parse_schema("price: i64, tenant: string").tenant(), std::nullopt);
  EXPECT_EQ(parse_schema("tenant: string tenant").tenant(), 0u);
  const std::vector<std::size_t> both{0, 1};
  EXPECT_EQ(select_columns(schema, both).tenant(), std::nullopt);
  const auto says = [](const char* text, const char* what) {
    EXPECT_THAT([&] { (void)parse_schema(text); }, ThrowsMessage<Error>(HasSubstr(what))) << text;
  };
  says("a: u64 tenant, b: i64 tenant", "two columns of tenants, 'a' and 'b'");
  says("a: set tenant", "the tenant's column 'a' is a set");
  says("a: f64 tenant", "it is u64, i64 or string");
  says("a: tenant", "'tenant' is no type");
  says("a: i64tenant", "'i64tenant' is no type");
  says("a: stringnot null", "'stringnot null' is no type");
  says("a: string not nulltenant", "is no type");
  EXPECT_THAT([&] { (void)Schema().with(schema); }, ThrowsMessage<Error>(HasSubstr("'owner'")));
}

TEST(Schema, GoesThroughJson) {
  const Schema schema = parse_schema("price: i64, section: string not null, owner: u64 tenant");
  const nlohmann::json json = {{"schema", schema_to_json(schema)}};
  EXPECT_EQ(schema_from_json(JsonFields(json, "file"), "schema"), schema);
  const auto says = [](const char* text, const char* what) {
    const nlohmann::json broken = nlohmann::json::parse(text);
    EXPECT_THAT([&] { (void)schema_from_json(JsonFields(broken, "file"), "schema"); },
                ThrowsMessage<Error>(HasSubstr(what)))
        << text;
  };
  says(R"({"schema":[{"name":"a","type":"i63","nullable":true}]})", "'i63' is no type");
  says(R"({"schema":[{"name":"a","type":"i64"}]})", "nullable");
  says(R"({"schema":[{"name":"or","type":"i64","nullable":true}]})", "cannot be");
  says(R"({"schema":[{"name":"a","type":"i64","nullable":true,"tenant":true}]})", "may be null");
  says(R"({"schema":[{"name":"a","type":"i64","nullable":false,"tenant":1}]})", "tenant");
}

}  // namespace
}  // namespace farvec::layout
