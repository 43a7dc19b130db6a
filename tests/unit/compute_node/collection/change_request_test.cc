#include "compute_node/collection/change_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "layout/attributes/tuple.h"

namespace farvec::compute_node {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
namespace wire = collection::v1;

constexpr std::size_t kMostIds = 5;

struct UpdateRequests : testing::Test {
  const changes::RowShape shape{
      .dimension = 2,
      .schema = layout::parse_schema("price: i64, section: string not null, tags: set")};

  /// Gives `rows` rows a price, and a section.
  static wire::UpdateRequest request_of(int ids, std::size_t rows) {
    wire::UpdateRequest request;
    for (int id = 0; id < ids; ++id) request.add_ids(static_cast<std::uint64_t>(id));
    request.add_columns("section");
    request.add_columns("price");
    const layout::Schema part = layout::parse_schema("section: string, price: i64");
    layout::Tuples tuples;
    for (std::size_t row = 0; row < rows; ++row) {
      tuples.append(part, std::vector<layout::Value>{std::string("a"), std::int64_t{7}});
    }
    set_attributes(tuples, request);
    return request;
  }
  static void set_attributes(const layout::Tuples& tuples, wire::UpdateRequest& request) {
    request.set_attributes(tuples.bytes.data(), tuples.bytes.size());
    request.clear_attribute_ends();
    request.mutable_attribute_ends()->Add(tuples.ends.begin(), tuples.ends.end());
  }
  std::string wrong(const wire::UpdateRequest& request) const {
    return check_update(request, shape, kMostIds);
  }
};

TEST_F(UpdateRequests, HaveATupleForEachIdOrOneForAll) {
  EXPECT_THAT(wrong(request_of(1, 1)), IsEmpty());
  EXPECT_THAT(wrong(request_of(5, 5)), IsEmpty());
  EXPECT_THAT(wrong(request_of(5, 1)), IsEmpty());
  EXPECT_THAT(wrong(request_of(5, 4)), HasSubstr("attribute_ends: 4 came with 5 ids"));
  EXPECT_THAT(wrong(request_of(5, 0)), HasSubstr("attribute_ends: 0 came"));
  EXPECT_THAT(wrong(request_of(1, 2)), HasSubstr("attribute_ends: 2 came"));
}

TEST_F(UpdateRequests, HaveEitherIdsOrAFilter) {
  EXPECT_THAT(wrong(request_of(0, 1)), HasSubstr("ids: 0 came, 1 to 5 is allowed"));
  EXPECT_THAT(wrong(request_of(0, 0)), HasSubstr("ids: 0 came"));
  EXPECT_THAT(wrong(request_of(6, 6)), HasSubstr("ids: 6 came"));
  auto request = request_of(0, 1);
  request.set_filter("price < 3");
  EXPECT_THAT(wrong(request), IsEmpty());
  request.add_ids(3);
  EXPECT_THAT(wrong(request), HasSubstr("either ids or a filter"));
  auto several = request_of(0, 2);
  several.set_filter("true");
  EXPECT_THAT(wrong(several), HasSubstr("attribute_ends: 2 came with 0 ids"));
}

TEST_F(UpdateRequests, NameColumnsOfTheSchema) {
  auto request = request_of(1, 1);
  request.set_columns(1, "prise");
  EXPECT_THAT(wrong(request), HasSubstr("'prise'"));
  request.set_columns(1, "section");
  EXPECT_THAT(wrong(request), HasSubstr("'section'"));
  request.clear_columns();
  EXPECT_THAT(wrong(request), HasSubstr("no column came"));
}

TEST_F(UpdateRequests, HaveTuplesOfTheseColumns) {
  auto request = request_of(2, 2);
  std::swap(*request.mutable_columns(0), *request.mutable_columns(1));
  EXPECT_THAT(wrong(request), HasSubstr("attributes: ")) << "they are in another order";
  const auto spoilt = [&](const auto& spoil) {
    auto one = request_of(2, 2);
    spoil(one);
    return wrong(one);
  };
  EXPECT_THAT(spoilt([](auto& r) { r.set_attribute_ends(0, 1u << 30); }), HasSubstr("attributes"));
  EXPECT_THAT(spoilt([](auto& r) { r.set_attribute_ends(1, ~0ull); }), HasSubstr("attributes"));
  EXPECT_THAT(spoilt([](auto& r) { r.mutable_attributes()->append("x"); }),
              HasSubstr("attributes"));
  EXPECT_THAT(spoilt([](auto& r) { r.mutable_attributes()->at(0) = 9; }), HasSubstr("attributes"));
  EXPECT_THAT(spoilt([](auto& r) { r.clear_attributes(); }), HasSubstr("attributes"));
}

TEST_F(UpdateRequests, AreNullOnlyWhereTheSchemaAllowsIt) {
  auto request = request_of(1, 1);
  const layout::Schema part = layout::parse_schema("section: string, price: i64");
  layout::Tuples tuples;
  tuples.append(part, std::vector<layout::Value>{std::string("a"), {}});
  set_attributes(tuples, request);
  EXPECT_THAT(wrong(request), IsEmpty());
  layout::Tuples null;
  null.append(part, std::vector<layout::Value>{{}, std::int64_t{3}});
  set_attributes(null, request);
  EXPECT_THAT(wrong(request), HasSubstr("column 'section' is null"));
}

TEST_F(UpdateRequests, HaveAMebibyteOfAttributes) {
  wire::UpdateRequest request;
  request.add_columns("section");
  const layout::Schema part = layout::parse_schema("section: string");
  layout::Tuples tuples;
  for (std::uint64_t id = 0; id < 18; ++id) {
    request.add_ids(id);
    tuples.append(part, std::vector<layout::Value>{std::string(60'000, 'x')});
  }
  set_attributes(tuples, request);
  EXPECT_THAT(check_update(request, shape, 100), HasSubstr("at most 1048576 is allowed"));
  request.mutable_ids()->RemoveLast();
  tuples.bytes.resize(tuples.ends[16]);
  tuples.ends.pop_back();
  set_attributes(tuples, request);
  EXPECT_THAT(check_update(request, shape, 100), IsEmpty());
}

TEST_F(UpdateRequests, OfAnIndexWithoutColumnsAreForTheIndexToRefuse) {
  EXPECT_THAT(check_update(request_of(1, 1), {.dimension = 2}, kMostIds), IsEmpty());
}

}  // namespace
}  // namespace farvec::compute_node
