// Attributes through both services of a compute node.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "layout/attributes/tuple.h"
#include "tests/unit/compute_node/collection/collection_service_fixture.h"

namespace farvec::compute_node {
namespace {

using testing::HasSubstr;

struct CollectionAttributesTest : CollectionServiceTest {
  const layout::Schema schema{
      {{"price", layout::ColumnType::i64, true}, {"note", layout::ColumnType::string, true}}};

  CollectionAttributesTest() { shape.schema = schema; }

  /// The row's id says its price; every fifth row has none.
  static layout::Value price(std::uint64_t id) {
    if (id % 5 == 0) return std::monostate();
    return static_cast<std::int64_t>(id % 7);
  }
  void add_attributes(wire::InsertRequest& request, const std::string& note) const {
    layout::Tuples tuples;
    for (const std::uint64_t id : request.ids()) {
      tuples.append(schema, std::vector<layout::Value>{price(id), note});
    }
    request.set_attributes(tuples.bytes.data(), tuples.bytes.size());
    request.mutable_attribute_ends()->Add(tuples.ends.begin(), tuples.ends.end());
  }
  void insert_with_attributes(std::uint64_t begin, std::uint64_t end, const std::string& note) {
    const Rows made = random_rows(begin, end);
    auto request = insert_request(made);
    add_attributes(request, note);
    const grpc::Status status = insert(request);
    ASSERT_TRUE(status.ok()) << status.error_message();
    rows.insert(made.begin(), made.end());
  }
  wire::GetResponse get(const std::vector<std::uint64_t>& ids) {
    wire::GetRequest request;
    request.mutable_ids()->Add(ids.begin(), ids.end());
    wire::GetResponse response;
    const grpc::Status status =
        ask([&](auto& context) { return stub->Get(&context, request, &response); });
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }
  static layout::TupleView tuples_in(const wire::GetResponse& answer) {
    return {.ends = {answer.attribute_ends().data(),
                     static_cast<std::size_t>(answer.attribute_ends_size())},
            .bytes = std::as_bytes(std::span(answer.attributes()))};
  }
};

TEST_F(CollectionAttributesTest, ComeBackWithTheirRows) {
  start();
  insert_with_attributes(0, 50, "old");
  ASSERT_TRUE(flush().ok());
  insert_with_attributes(50, 60, "fresh");
  ASSERT_TRUE(insert(insert_request(random_rows(60, 61))).ok());
  const wire::GetResponse answer = get({55, 1000, 3, 5, 60});
  const layout::TupleView tuples = tuples_in(answer);
  ASSERT_EQ(tuples.count(), 4u);
  EXPECT_NO_THROW(layout::check_tuples(tuples, schema, "the answer"));
  const auto row = [&](std::size_t i) { return layout::Tuple(tuples.row(i)); };
  EXPECT_EQ(row(0).value(schema, 1), layout::Value(std::string("fresh")));
  EXPECT_EQ(row(1).value(schema, 0), layout::Value(std::int64_t{3}));
  EXPECT_EQ(row(1).value(schema, 1), layout::Value(std::string("old")));
  EXPECT_TRUE(row(2).is_null(0));
  EXPECT_TRUE(row(3).is_null(0) && row(3).is_null(1)) << "it came without attributes";
  EXPECT_EQ(stats().schema(), "price: i64, note: string");
}

TEST_F(CollectionAttributesTest, SearchesReturnRowsThatMeetTheFilter) {
  start();
  for (std::uint64_t id = 0; id < 200; id += 50) insert_with_attributes(id, id + 50, "x");
  Rows matching;
  for (const auto& [id, row] : rows) {
    if (id % 5 != 0 && id % 7 < 2 && id > 20) matching[id] = row;
  }
  for (int i = 0; i < 10; ++i) {
    const auto query = collection::random_row(random);
    auto request = search_request(query, 300);
    request.set_filter("price < 2 and id > 20");
    v1::SearchResponse response;
    const grpc::Status status = search(request, response);
    ASSERT_TRUE(status.ok()) << status.error_message();
    const auto expected = collection::exact(matching, Metric::l2, query);
    const auto& found = response.results(0);
    ASSERT_EQ(static_cast<std::size_t>(found.user_ids_size()), expected.size());
    for (int r = 0; r < found.user_ids_size(); ++r) {
      EXPECT_EQ(found.user_ids(r), expected[static_cast<std::size_t>(r)].second);
    }
    EXPECT_EQ(found.counts().matches(), expected.size());
  }
}

TEST_F(CollectionAttributesTest, SelectedColumnsComeWithTheResults) {
  start();
  insert_with_attributes(0, 50, "old");
  ASSERT_TRUE(flush().ok());
  insert_with_attributes(50, 60, "fresh");
  auto request = search_request(collection::random_row(random), 100);
  request.add_select("note");
  request.add_select("price");
  v1::SearchResponse response;
  ASSERT_TRUE(search(request, response).ok());
  const v1::QueryResult& found = response.results(0);
  ASSERT_EQ(found.user_ids_size(), 60);
  ASSERT_EQ(found.attribute_ends_size(), 60);
  EXPECT_EQ(found.counts().attribute_reads(), 50u);
  const std::vector<std::size_t> columns{1, 0};
  const layout::Schema part = select_columns(schema, columns);
  const layout::TupleView tuples{.ends = {found.attribute_ends().data(), 60},
                                 .bytes = std::as_bytes(std::span(found.attributes()))};
  EXPECT_NO_THROW(layout::check_tuples(tuples, part, "the answer"));
  for (int i = 0; i < 60; ++i) {
    const std::uint64_t id = found.user_ids(i);
    const layout::Tuple tuple(tuples.row(static_cast<std::size_t>(i)));
    EXPECT_EQ(tuple.value(part, 0), layout::Value(std::string(id < 50 ? "old" : "fresh")));
    EXPECT_EQ(tuple.value(part, 1), price(id));
  }
  request.add_select("prise");
  EXPECT_THAT(search(request, response).error_message(), HasSubstr("select: there is no column"));
  request.clear_select();
  request.add_select("note");
  request.add_select("note");
  EXPECT_THAT(search(request, response).error_message(), HasSubstr("'note' comes twice"));
}

TEST_F(CollectionAttributesTest, SearchesReturnRowsWithinADistance) {
  start();
  for (std::uint64_t id = 0; id < 200; id += 50) insert_with_attributes(id, id + 50, "x");
  ASSERT_TRUE(flush().ok());
  const auto query = collection::random_row(random);
  const auto expected = collection::exact(rows, Metric::l2, query);
  auto request = search_request(query, 150);
  request.add_select("price");
  for (const std::size_t near : {0u, 1u, 40u, 149u}) {
    const float last = near == 0 ? 0 : expected[near - 1].first;
    request.set_within((last + expected[near].first) / 2);
    v1::SearchResponse response;
    const grpc::Status status = search(request, response);
    ASSERT_TRUE(status.ok()) << status.error_message();
    const auto& found = response.results(0);
    ASSERT_EQ(static_cast<std::size_t>(found.user_ids_size()), near);
    EXPECT_EQ(found.attribute_ends_size(), found.user_ids_size());
    for (int r = 0; r < found.user_ids_size(); ++r) {
      EXPECT_EQ(found.user_ids(r), expected[static_cast<std::size_t>(r)].second);
    }
  }
}

TEST_F(CollectionAttributesTest, AttributesThatFitNoAnswerAreRefused) {
  start();
  for (std::uint64_t id = 0; id < 300; id += 15) {
    insert_with_attributes(id, id + 15, std::string(60'000, 'n'));
  }
  auto request = search_request(collection::random_row(random), 250);
  request.add_queries(request.queries(0));
  request.add_select("note");
  v1::SearchResponse response;
  ASSERT_TRUE(search(request, response).ok());
  EXPECT_EQ(response.results(0).attribute_ends_size(), 250);
  EXPECT_EQ(response.results(1).status(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(response.results(1).message(), HasSubstr("16 MiB"));
  EXPECT_EQ(response.results(1).user_ids_size(), 0);
}

TEST_F(CollectionAttributesTest, AWrongFilterIsNamedWithItsPlace) {
  start();
  auto request = search_request(collection::random_row(random), 3);
  request.set_filter("price < 2 and pric = 1");
  v1::SearchResponse response;
  const grpc::Status status = search(request, response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("filter: the condition is wrong at column 15"));
  EXPECT_THAT(status.error_message(), HasSubstr("price: i64, note: string"));
}

TEST_F(CollectionAttributesTest, WrongOnesAreRefusedAndNothingIsIn) {
  start();
  const auto wrong = [&](const auto& change) {
    auto request = insert_request(random_rows(10, 12));
    add_attributes(request, "note");
    change(request);
    const grpc::Status status = insert(request);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    return status.error_message();
  };
  EXPECT_THAT(wrong([](auto& r) { r.mutable_attribute_ends()->RemoveLast(); }),
              HasSubstr("2 rows and the attributes of 1"));
  EXPECT_THAT(wrong([](auto& r) { r.set_attribute_ends(0, 1u << 30); }), HasSubstr("attributes"));
  EXPECT_THAT(wrong([](auto& r) { r.set_attribute_ends(1, ~0ull); }), HasSubstr("attributes"));
  EXPECT_THAT(wrong([](auto& r) { r.mutable_attributes()->append("x"); }), HasSubstr("attributes"));
  EXPECT_THAT(wrong([](auto& r) { r.mutable_attributes()->at(0) = 9; }), HasSubstr("attributes"));
  EXPECT_EQ(collection().view()->live(), 0u);
}

TEST_F(CollectionAttributesTest, RowsAreCountedListedAndDeletedByACondition) {
  start();
  for (std::uint64_t id = 0; id < 200; id += 50) insert_with_attributes(id, id + 50, "x");
  std::vector<std::uint64_t> cheap;
  for (std::uint64_t id = 0; id < 200; ++id) {
    if (id % 5 != 0 && id % 7 < 2) cheap.push_back(id);
  }
  wire::ListRequest request;
  request.set_filter("price < 2");
  request.set_attributes(true);
  request.set_most(10);
  std::vector<std::uint64_t> listed;
  wire::ListResponse response;
  do {
    response.Clear();
    const grpc::Status status =
        ask([&](auto& context) { return stub->List(&context, request, &response); });
    ASSERT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(response.matches(), cheap.size());
    EXPECT_EQ(response.attribute_ends_size(), response.ids_size());
    listed.insert(listed.end(), response.ids().begin(), response.ids().end());
    if (response.ids_size() > 0) request.set_from(listed.back() + 1);
  } while (response.more());
  EXPECT_EQ(listed, cheap);
  wire::DeleteRequest deletion;
  deletion.set_filter("price < 2");
  wire::DeleteResponse deleted;
  ASSERT_TRUE(ask([&](auto& c) { return stub->Delete(&c, deletion, &deleted); }).ok());
  EXPECT_EQ(deleted.done(), cheap.size());
  EXPECT_EQ(collection().view()->live(), 200 - cheap.size());
  deletion.add_ids(7);
  const grpc::Status both = ask([&](auto& c) { return stub->Delete(&c, deletion, &deleted); });
  EXPECT_EQ(both.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(both.error_message(), HasSubstr("either ids or a filter"));
  request.set_most(1u << 30);
  const grpc::Status many = ask([&](auto& c) { return stub->List(&c, request, &response); });
  EXPECT_THAT(many.error_message(), HasSubstr("most: 1073741824 came"));
}

/// An Insert is in as a whole, so that it is one record of the log; a Get has the first rows alone.
TEST_F(CollectionAttributesTest, LargeOnesComeInSeveralCalls) {
  start();
  const std::string note(60'000, 'n');
  auto request = insert_request(random_rows(0, 50));
  add_attributes(request, note);
  const grpc::Status status = insert(request);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("one call takes the first 17 of them"));
  for (std::uint64_t id = 0; id < 340; id += 17) insert_with_attributes(id, id + 17, note);
  std::size_t least = 50;
  for (std::uint64_t id = 0; id + 50 <= 340; id += 50) {
    std::vector<std::uint64_t> ids(50);
    for (std::size_t i = 0; i < 50; ++i) ids[i] = id + i;
    const wire::GetResponse answer = get(ids);
    EXPECT_LT(answer.ByteSizeLong(), 17u << 20);
    EXPECT_EQ(tuples_in(answer).count(), static_cast<std::size_t>(answer.found_size()));
    least = std::min(least, static_cast<std::size_t>(answer.found_size()));
  }
  EXPECT_EQ(least, 50u) << "50 rows of 60 KB fit";
}

TEST_F(CollectionServiceTest, AddsColumnsThatFiltersNameAtOnce) {
  start();
  insert_ids(0, 20);
  const auto add = [&](const char* columns, wire::AddColumnsResponse& response) {
    wire::AddColumnsRequest request;
    request.set_columns(columns);
    return ask([&](auto& context) { return stub->AddColumns(&context, request, &response); });
  };
  wire::AddColumnsResponse told;
  const auto refused = [&](const char* columns) {
    const grpc::Status status = add(columns, told);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    return status.error_message();
  };
  EXPECT_THAT(refused(""), HasSubstr("columns: none came"));
  EXPECT_THAT(refused("price: what"), HasSubstr("columns: "));
  EXPECT_THAT(refused("price: i64 not null"), HasSubstr("'price' is not null"));
  ASSERT_TRUE(add("price: i64", told).ok());
  ASSERT_TRUE(add("note: string", told).ok());
  EXPECT_EQ(told.schema(), "price: i64, note: string");
  EXPECT_EQ(stats().schema(), told.schema());
  EXPECT_THAT(refused("note: set"), HasSubstr("'note'"));
  const Rows made = random_rows(15, 30);
  auto request = insert_request(made);
  layout::Tuples tuples;
  for (const std::uint64_t id : request.ids()) {
    tuples.append(layout::parse_schema("price: i64"),
                  std::vector<layout::Value>{static_cast<std::int64_t>(id)});
  }
  request.set_attributes(tuples.bytes.data(), tuples.bytes.size());
  request.mutable_attribute_ends()->Add(tuples.ends.begin(), tuples.ends.end());
  ASSERT_TRUE(insert(request).ok()) << "a client that knows the first column alone";
  auto search_for = search_request(collection::random_row(random), 20);
  search_for.set_filter("price >= 25 and note is null");
  search_for.add_select("note");
  v1::SearchResponse response;
  ASSERT_TRUE(search(search_for, response).ok());
  EXPECT_EQ(response.results(0).user_ids_size(), 5);
}

TEST_F(CollectionServiceTest, WithoutASchemaIdsAloneCanBeNamed) {
  start();
  insert_ids(0, 20);
  auto request = search_request(collection::random_row(random), 20);
  request.set_filter("id in (3, 7, 500)");
  v1::SearchResponse response;
  ASSERT_TRUE(search(request, response).ok());
  std::vector<std::uint64_t> found(response.results(0).user_ids().begin(),
                                   response.results(0).user_ids().end());
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found, (std::vector<std::uint64_t>{3, 7}));
  auto with_attributes = insert_request(random_rows(30, 31));
  with_attributes.set_attributes("x");
  with_attributes.add_attribute_ends(1);
  EXPECT_THAT(insert(with_attributes).error_message(), HasSubstr("schema without columns"));
}

}  // namespace
}  // namespace farvec::compute_node
