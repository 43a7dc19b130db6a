#include "collection/build/tenant_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/random.h"

namespace farvec::collection {
namespace {

using layout::Value;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// The owner is the second column.
layout::Tuples owned_by(const layout::Schema& schema, const std::vector<Value>& owners) {
  layout::Tuples tuples;
  for (const Value& owner : owners) {
    tuples.append(schema, std::vector<Value>{std::int64_t{3}, owner});
  }
  return tuples;
}

std::vector<Value> texts(const std::vector<std::string>& values) {
  return {values.begin(), values.end()};
}

const layout::Schema kTexts = layout::parse_schema("price: i64, owner: string tenant");

TEST(TenantOrder, HasTheRowsOfATenantTogether) {
  const auto order = [](const std::vector<std::string>& owners) {
    return tenant_order(kTexts, owned_by(kTexts, texts(owners)).view());
  };
  EXPECT_THAT(order({"b", "a", "b", "", "a", "ab"}), ElementsAre(3, 1, 4, 5, 0, 2));
  EXPECT_THAT(order({"a", "a", "b"}), IsEmpty()) << "they are in this order";
  EXPECT_THAT(order({"a"}), IsEmpty());
  EXPECT_THAT(order({}), IsEmpty());
}

TEST(TenantOrder, IsThatOfIntegersToo) {
  const layout::Schema u64 = layout::parse_schema("price: i64, owner: u64 tenant");
  EXPECT_THAT(tenant_order(u64, owned_by(u64, {std::uint64_t{9}, ~std::uint64_t{0},
                                               std::uint64_t{0}, std::uint64_t{9}})
                                    .view()),
              ElementsAre(2, 0, 3, 1));
  const layout::Schema i64 = layout::parse_schema("price: i64, owner: i64 tenant");
  EXPECT_THAT(tenant_order(
                  i64, owned_by(i64, {std::int64_t{-1}, std::int64_t{5}, std::int64_t{-1}}).view()),
              ElementsAre(1, 0, 2));
}

TEST(TenantOrder, HasRowsWithoutATenantLast) {
  layout::Tuples tuples = owned_by(kTexts, texts({"b"}));
  tuples.append(layout::null_tuple());
  tuples.append(owned_by(kTexts, texts({"a", "b"})).view());
  tuples.append(layout::null_tuple());
  EXPECT_THAT(tenant_order(kTexts, tuples.view()), ElementsAre(2, 0, 3, 1, 4));
}

TEST(TenantOrder, IsNoOrderWithoutATenantsColumn) {
  const layout::Schema schema = layout::parse_schema("price: i64, owner: string");
  EXPECT_THAT(tenant_order(schema, owned_by(schema, texts({"b", "a"})).view()), IsEmpty());
  EXPECT_THAT(tenant_order({}, {}), IsEmpty());
}

TEST(SmallTenants, HaveHalfOfTheRows) {
  const auto are_small = [](const std::vector<std::size_t>& sizes) {
    std::vector<std::string> owners;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      owners.insert(owners.end(), sizes[i], "t" + std::to_string(i));
    }
    return are_small_tenants(kTexts, owned_by(kTexts, texts(owners)).view());
  };
  EXPECT_TRUE(are_small({}));
  EXPECT_TRUE(are_small({1, 2, 3}));
  EXPECT_TRUE(are_small({kSmallTenant, kSmallTenant}));
  EXPECT_FALSE(are_small({kSmallTenant + 1}));
  EXPECT_TRUE(are_small({kSmallTenant, kSmallTenant + 1, 1}));
  EXPECT_FALSE(are_small({kSmallTenant - 1, kSmallTenant + 1}));
  const layout::Schema plain = layout::parse_schema("price: i64, owner: string");
  EXPECT_FALSE(are_small_tenants(plain, owned_by(plain, texts({"a"})).view()));
}

TEST(TenantOrder, HasEachRowOnce) {
  Random random(4);
  std::vector<std::string> owners;
  for (int row = 0; row < 500; ++row) owners.push_back(std::to_string(random.below(30)));
  const auto order = tenant_order(kTexts, owned_by(kTexts, texts(owners)).view());
  ASSERT_EQ(order.size(), owners.size());
  for (std::size_t i = 1; i < order.size(); ++i) {
    EXPECT_LT(std::pair(owners[order[i - 1]], order[i - 1]), std::pair(owners[order[i]], order[i]));
  }
  const std::vector<NodeId> places = places_in(order);
  for (NodeId i = 0; i < order.size(); ++i) EXPECT_EQ(places[order[i]], i);
  EXPECT_THAT(places_in({}), IsEmpty());
}

}  // namespace
}  // namespace farvec::collection
