#include "client/node_answers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "layout/attributes/schema.h"
#include "layout/attributes/tuple.h"
#include "tests/unit/client/sound_answers.h"
#include "tests/unit/message_of.h"

namespace farvec::client {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
namespace v1 = compute_node::v1;
namespace wire = collection::v1;

TEST(NodeAnswers, EveryLayoutThatFarvecHasIsKnown) {
  for (const char* layout : {"csr", "padded", "slotted", "inline", "packed", "coupled", "decoupled",
                             "grouped", "grouped-inline", "coded", "collection"}) {
    v1::DescribeResponse node = sound_description();
    node.set_layout(layout);
    EXPECT_THAT(fault_of(node), IsEmpty()) << layout;
  }
  v1::DescribeResponse empty = sound_description();
  empty.set_layout("collection");
  empty.set_count(0);
  EXPECT_THAT(fault_of(empty), IsEmpty()) << "a collection without rows";
}

TEST(NodeAnswers, ADescriptionThatCannotBeIsNamed) {
  using Change = std::function<void(v1::DescribeResponse&)>;
  const std::vector<std::pair<const char*, Change>> wrong{
      {"type 0", [](auto& node) { node.set_type(v1::ELEMENT_TYPE_UNSPECIFIED); }},
      {"type 99", [](auto& node) { node.set_type(static_cast<v1::ElementType>(99)); }},
      {"type -1", [](auto& node) { node.set_type(static_cast<v1::ElementType>(-1)); }},
      {"stored_type 6", [](auto& node) { node.set_stored_type(static_cast<v1::ElementType>(6)); }},
      {"metric 0", [](auto& node) { node.set_metric(v1::METRIC_UNSPECIFIED); }},
      {"metric 6", [](auto& node) { node.set_metric(static_cast<v1::Metric>(6)); }},
      {"metric hamming", [](auto& node) { node.set_metric(v1::METRIC_HAMMING); }},
      {"does not compare b1", [](auto& node) { node.set_type(v1::ELEMENT_TYPE_B1); }},
      {"dimension 0", [](auto& node) { node.set_dimension(0); }},
      {"dimension 16385", [](auto& node) { node.set_dimension(16385); }},
      {"layout ''", [](auto& node) { node.set_layout(""); }},
      {"layout 'nonsense'", [](auto& node) { node.set_layout("nonsense"); }},
      {"count 0", [](auto& node) { node.set_count(0); }},
      {"count 4294967296", [](auto& node) { node.set_count(1ull << 32); }},
      {"max_k 0", [](auto& node) { node.set_max_k(0); }},
      {"max_k 4294967295", [](auto& node) { node.set_max_k(~0u); }},
      {"max_list 0", [](auto& node) { node.set_max_list(0); }},
      {"max_width 0", [](auto& node) { node.set_max_width(0); }},
      {"max_queries_per_call 0", [](auto& node) { node.set_max_queries_per_call(0); }},
      {"max_probe 0", [](auto& node) { node.set_clusters(7); }}};
  for (const auto& [what, change] : wrong) {
    v1::DescribeResponse node = sound_description();
    change(node);
    EXPECT_THAT(fault_of(node), HasSubstr(what));
  }
}

v1::SearchResponse answer(const ResultCounts& counts) {
  v1::SearchResponse response;
  add_result(response, counts);
  return response;
}

TEST(NodeAnswers, EveryResultHasAsManyIdsAsDistances) {
  const AskedQueries asked{1, 5};
  for (const auto& [ids, user_ids] : {std::pair{5u, 0u}, {5u, 5u}, {0u, 5u}}) {
    EXPECT_THAT(fault_of(answer({ids, user_ids, 5}), asked), IsEmpty()) << ids << " " << user_ids;
  }
  EXPECT_THAT(fault_of(answer({0, 0, 0}), asked), IsEmpty()) << "nothing was found";
  EXPECT_THAT(fault_of(answer({2, 0, 2}), asked), IsEmpty()) << "fewer than k were";
  const std::vector<ResultCounts> wrong{{6, 0, 6}, {6, 6, 6}, {5, 6, 5}, {5, 4, 5}, {0, 6, 6},
                                        {0, 4, 5}, {4, 0, 5}, {4, 5, 5}, {5, 0, 4}, {0, 0, 5},
                                        {5, 5, 0}, {0, 5, 0}, {1, 0, 0}};
  for (const ResultCounts& counts : wrong) {
    EXPECT_THAT(fault_of(answer(counts), asked), HasSubstr("user_ids"))
        << counts.ids << " " << counts.user_ids << " " << counts.distances;
  }
  EXPECT_THAT(fault_of(answer({5, 4'000'000, 5}), asked), HasSubstr("4000000 user_ids"));
}

TEST(NodeAnswers, EveryResultHasTheColumnsThatWereSelected) {
  const layout::Schema select = layout::parse_schema("price: i64");
  v1::SearchResponse response;
  v1::QueryResult& result = add_result(response, {.user_ids = 1, .distances = 1});
  EXPECT_THAT(fault_of(response, {1, 3, select}), HasSubstr("the attributes of 0 rows came"));
  layout::Tuples tuples;
  tuples.append(select, std::vector<layout::Value>{std::int64_t{5}});
  result.set_attributes(tuples.bytes.data(), tuples.bytes.size());
  result.add_attribute_ends(tuples.ends[0]);
  EXPECT_THAT(fault_of(response, {1, 3, select}), IsEmpty());
  EXPECT_THAT(fault_of(response, {1, 3}), HasSubstr("the attributes of 1 rows came"));
  result.set_attribute_ends(0, 1 << 20);
  EXPECT_THAT(fault_of(response, {1, 3, select}), HasSubstr("damaged"));
}

TEST(NodeAnswers, EveryQueryHasOneResultWhoseNumbersAreSome) {
  v1::SearchResponse response = answer({1, 0, 1});
  EXPECT_THAT(fault_of(response, {2, 1}), HasSubstr("1 results came for 2 queries"));
  EXPECT_THAT(fault_of(response, {0, 1}), HasSubstr("1 results came for 0 queries"));
  for (const float coverage : {-0.5F, 1.5F, std::numeric_limits<float>::quiet_NaN()}) {
    response.mutable_results(0)->set_coverage(coverage);
    EXPECT_THAT(fault_of(response, {1, 1}), HasSubstr("coverage"));
    // What failed has no result.
    response.mutable_results(0)->set_status(14);
    EXPECT_THAT(fault_of(response, {1, 1}), IsEmpty());
    response.mutable_results(0)->set_status(0);
  }
  response.mutable_results(0)->set_coverage(1);
  response.mutable_results(0)->set_distances(0, std::numeric_limits<float>::quiet_NaN());
  EXPECT_THAT(fault_of(response, {1, 1}), HasSubstr("distance"));
}

TEST(NodeAnswers, ResultsAscendAndComeOnce) {
  const AskedQueries asked{1, 3};
  v1::SearchResponse response = answer({3, 3, 3});
  v1::QueryResult& result = *response.mutable_results(0);
  EXPECT_THAT(fault_of(response, asked), IsEmpty()) << "distances may be equal";
  for (const float sign : {1.F, -1.F}) {
    result.set_distances(2, sign * std::numeric_limits<float>::infinity());
    EXPECT_THAT(fault_of(response, asked), HasSubstr("no finite number"));
  }
  result.set_distances(2, 0.25F);
  EXPECT_THAT(fault_of(response, asked), HasSubstr("do not ascend"));
  result.set_distances(2, 0.75F);
  EXPECT_THAT(fault_of(response, asked), IsEmpty());
  result.set_user_ids(2, result.user_ids(0));
  EXPECT_THAT(fault_of(response, asked), HasSubstr("id 0 twice"));
  result.set_user_ids(2, 2);
  result.set_ids(1, 2);
  EXPECT_THAT(fault_of(response, asked), HasSubstr("id 2 twice"));
}

TEST(NodeAnswers, ACollectionsStateIsLookedAt) {
  const wire::StatsResponse state = sound_state(16);
  EXPECT_THAT(fault_of(state), IsEmpty());
  const auto with = [&state](const std::function<void(wire::StatsResponse&)>& change) {
    wire::StatsResponse other = state;
    change(other);
    return fault_of(other);
  };
  const auto odd = static_cast<wire::ElementType>(99);
  EXPECT_THAT(with([&](auto& other) { other.set_type(odd); }), HasSubstr("type 99"));
  EXPECT_THAT(with([&](auto& other) { other.set_stored_type(odd); }), HasSubstr("stored_type 99"));
  EXPECT_THAT(with([](auto& other) { other.set_dimension(0); }), HasSubstr("dimension 0"));
  EXPECT_THAT(with([](auto& other) { other.set_max_rows(0); }), HasSubstr("max_rows 0"));
  EXPECT_THAT(with([](auto& other) { other.set_max_ids(0); }), HasSubstr("max_ids 0"));
  EXPECT_THAT(with([](auto& other) { other.set_schema("price: money"); }), HasSubstr("schema"));
}

TEST(NodeAnswers, RowsAreThoseThatWereAskedFor) {
  const layout::StoredShape shape{ElementType::f16, 3};
  wire::GetResponse rows = sound_rows(3, {true, false});
  EXPECT_THAT(fault_of(rows, {shape, 2}), IsEmpty());
  EXPECT_THAT(fault_of(rows, {shape, 3}), HasSubstr("3 were asked for"));
  rows.set_dimension(0);
  EXPECT_THAT(fault_of(rows, {shape, 2}), HasSubstr("0 dimensions"));
  rows.set_dimension(3);
  rows.set_type(static_cast<wire::ElementType>(99));
  EXPECT_THAT(fault_of(rows, {shape, 2}), HasSubstr("type 99"));
  rows.set_type(wire::ELEMENT_TYPE_F16);
  rows.set_found(1, true);
  EXPECT_THAT(fault_of(rows, {shape, 2}), HasSubstr("6 bytes of rows came for 2"));
}

TEST(NodeAnswers, RowsHaveTheAttributesOfTheSchema) {
  AskedRows asked{{ElementType::f16, 3}, 3, layout::parse_schema("price: i64, note: string")};
  wire::GetResponse rows = sound_rows(3, {true, false});
  EXPECT_THAT(fault_of(rows, asked), HasSubstr("the attributes of 0 rows came, where 1 can be"));
  layout::Tuples tuples;
  tuples.append(asked.schema, std::vector<layout::Value>{std::int64_t{5}, std::string("x")});
  rows.set_attributes(tuples.bytes.data(), tuples.bytes.size());
  rows.add_attribute_ends(tuples.ends[0]);
  EXPECT_THAT(fault_of(rows, asked), IsEmpty()) << "those of the first 2 of 3 ids";
  asked.ids = 1;
  EXPECT_THAT(fault_of(rows, asked), HasSubstr("1 were asked for"));
  asked.ids = 2;
  rows.set_attribute_ends(0, 1 << 20);
  EXPECT_THAT(fault_of(rows, asked), HasSubstr("damaged"));
  rows.set_attribute_ends(0, tuples.ends[0]);
  rows.mutable_attributes()->at(0) = 77;
  EXPECT_THAT(fault_of(rows, asked), HasSubstr("damaged"));
  asked.schema = {};
  EXPECT_THAT(fault_of(rows, asked), HasSubstr("the attributes of 1 rows came, where 0 can be"));
  wire::GetResponse none;
  none.set_type(rows.type());
  none.set_dimension(3);
  asked.schema = layout::parse_schema("price: i64");
  EXPECT_THAT(fault_of(none, asked), HasSubstr("2 were asked for")) << "it would never end";
}

TEST(NodeAnswers, SchemasOnlyGrow) {
  const layout::Schema known = layout::parse_schema("price: i64");
  EXPECT_EQ(grown_schema("price: i64", known), known);
  EXPECT_EQ(grown_schema("price: i64, note: string", known).size(), 2u);
  EXPECT_EQ(grown_schema("note: string", {}).size(), 1u);
  const auto refusal = [&](const char* said) {
    return tests::message_of([&] { (void)grown_schema(said, known); });
  };
  EXPECT_EQ(grown_schema("", known), known) << "an answer that was under way";
  EXPECT_THAT(refusal("note: string, price: i64"), HasSubstr("where 'price: i64' comes first"));
  EXPECT_THAT(refusal("price: f64"), HasSubstr("comes first"));
  EXPECT_THAT(refusal("price: what"), HasSubstr("a schema that is none"));
}

TEST(NodeAnswers, ListedRowsAscendAndAreAsManyAsWereAskedFor) {
  const layout::Schema schema = layout::parse_schema("price: i64");
  const changes::Listing asked{.from = 5, .most = 2};
  const auto said = [&](std::initializer_list<std::uint64_t> ids, std::uint64_t matches,
                        bool more) {
    wire::ListResponse rows;
    rows.mutable_ids()->Add(ids.begin(), ids.end());
    rows.set_matches(matches);
    rows.set_more(more);
    return fault_of(rows, asked, schema);
  };
  EXPECT_THAT(said({5, 9}, 3, true), IsEmpty());
  EXPECT_THAT(said({}, 3, false), IsEmpty());
  EXPECT_THAT(said({}, 3, true), HasSubstr("0 rows of 3")) << "it would never end";
  for (const auto& ids : {std::initializer_list<std::uint64_t>{9, 5}, {5, 5}, {4, 9}, {5, 6, 7}}) {
    EXPECT_THAT(said(ids, 9, false), HasSubstr("in an order that cannot be"));
  }
  EXPECT_THAT(said({5, 9}, 1, false), HasSubstr("2 rows of 1"));
  const std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
  EXPECT_THAT(said({5, largest}, 3, true), HasSubstr("after the largest id"));
  wire::ListResponse rows;
  rows.add_ids(5);
  rows.set_matches(1);
  changes::Listing with = asked;
  with.attributes = true;
  EXPECT_THAT(fault_of(rows, with, schema), HasSubstr("the attributes of 0 rows"));
}

TEST(NodeAnswers, AReceiptIsOfWhatWasSent) {
  wire::InsertResponse in;
  in.set_done(3);
  in.set_replaced(3);
  EXPECT_THAT(fault_of(in, 3), IsEmpty());
  EXPECT_THAT(fault_of(in, 2), HasSubstr("3 of 2 rows"));
  in.set_replaced(4);
  EXPECT_THAT(fault_of(in, 3), HasSubstr("4 of them"));
  wire::DeleteResponse out;
  out.set_done(1);
  out.set_missing(2);
  EXPECT_THAT(fault_of(out, 3), IsEmpty());
  out.set_missing(~0ull);
  EXPECT_THAT(fault_of(out, 3), HasSubstr("were not"));
  out.set_done(~0ull);
  EXPECT_THAT(fault_of(out, 3), HasSubstr("were not"));
}

}  // namespace
}  // namespace farvec::client
