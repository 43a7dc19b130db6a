#include "attributes/tenant.h"

#include <gtest/gtest.h>

#include <string>

namespace farvec::attributes {
namespace {

const layout::Schema kSchema = layout::parse_schema("price: i64, owner: string tenant");
const layout::Schema kNumbered = layout::parse_schema("owner: i64 tenant, price: i64");

bool is_named(const std::string& text, const layout::Schema& schema) {
  return require_tenants(schema, parse_condition(text, schema).get()).ok();
}

TEST(Tenant, IsNamedByItsValues) {
  for (const char* text : {"owner = 'a'", "owner in ('a', 'b')", "owner = 'a' and price < 5",
                           "false", "price = 1 and (price < 0 or true) and owner = 'a'",
                           "(owner = 'a' and price < 5) or (owner = 'b' and not price < 5)",
                           "owner = 'a' and not owner = 'b'", "owner in ()"}) {
    EXPECT_TRUE(is_named(text, kSchema)) << text;
  }
  for (const char* text : {"true", "price < 5", "owner != 'a'", "owner < 'b'", "owner prefix 'a'",
                           "owner = 'a' or price < 5", "not owner = 'a'", "owner is not null",
                           "id = 5", "owner between 'a' and 'b'", "owner = 'a' or true"}) {
    EXPECT_FALSE(is_named(text, kSchema)) << text;
  }
}

TEST(Tenant, MayBeFewNumbers) {
  EXPECT_TRUE(is_named("owner = 7", kNumbered));
  EXPECT_TRUE(is_named("owner between 1 and 1000", kNumbered));
  EXPECT_FALSE(is_named("owner between 0 and 1000", kNumbered));
  EXPECT_FALSE(is_named("owner > 7", kNumbered));
  EXPECT_FALSE(is_named("id = 7", kNumbered)) << "another subject";
  EXPECT_FALSE(is_named("price = 7", kNumbered));
}

TEST(Tenant, AlternativesAddUp) {
  const auto named = [](int first, int last) {
    std::string text = "owner in (";
    for (int i = first; i < last; ++i)
      text += (i > first ? ", 'o" : "'o") + std::to_string(i) + "'";
    return text + ")";
  };
  EXPECT_TRUE(is_named(named(0, 1000), kSchema));
  EXPECT_FALSE(is_named(named(0, 1001), kSchema));
  EXPECT_TRUE(is_named(named(0, 500) + " and price = 1 or " + named(500, 1000), kSchema));
  EXPECT_FALSE(is_named(named(0, 500) + " and price = 1 or " + named(500, 1001), kSchema));
  EXPECT_TRUE(
      is_named("owner = 'a' and (" + named(0, 900) + " or " + named(900, 1800) + ")", kSchema));
}

TEST(Tenant, IsAskedForWhereTheSchemaHasOne) {
  EXPECT_EQ(require_tenants(kSchema, nullptr).code(), StatusCode::invalid_argument);
  EXPECT_TRUE(require_tenants(layout::Schema(), nullptr).ok());
  EXPECT_TRUE(require_tenants(layout::parse_schema("price: i64"), nullptr).ok());
}

}  // namespace
}  // namespace farvec::attributes
