// Rows of a collection that are given other attributes through a compute node.
#include <chrono>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compute_node/daemon/metrics.h"
#include "layout/attributes/tuple.h"
#include "tests/unit/compute_node/collection/collection_service_fixture.h"

namespace farvec::compute_node {
namespace {

using testing::HasSubstr;

struct UpdatesOverTheWire : CollectionServiceTest {
  const layout::Schema schema = layout::parse_schema("price: i64, note: string not null");

  UpdatesOverTheWire() { shape.schema = schema; }

  /// Inserts rows whose ids say their prices.
  void insert_priced(std::uint64_t begin, std::uint64_t end) {
    const Rows made = random_rows(begin, end);
    auto request = insert_request(made);
    layout::Tuples tuples;
    for (const std::uint64_t id : request.ids()) {
      tuples.append(schema,
                    std::vector<layout::Value>{static_cast<std::int64_t>(id), std::string("old")});
    }
    request.set_attributes(tuples.bytes.data(), tuples.bytes.size());
    request.mutable_attribute_ends()->Add(tuples.ends.begin(), tuples.ends.end());
    ASSERT_TRUE(insert(request).ok());
    rows.insert(made.begin(), made.end());
  }
  /// Gives each id the price, or all of them the one.
  static wire::UpdateRequest price_request(const std::vector<std::uint64_t>& ids,
                                           const std::vector<layout::Value>& prices) {
    wire::UpdateRequest request;
    request.mutable_ids()->Add(ids.begin(), ids.end());
    request.add_columns("price");
    layout::Tuples tuples;
    for (const layout::Value& price : prices) {
      tuples.append(layout::parse_schema("price: i64"), std::vector<layout::Value>{price});
    }
    request.set_attributes(tuples.bytes.data(), tuples.bytes.size());
    request.mutable_attribute_ends()->Add(tuples.ends.begin(), tuples.ends.end());
    return request;
  }
  grpc::Status update(const wire::UpdateRequest& request, wire::UpdateResponse& response) {
    response.Clear();
    return ask([&](auto& context) { return stub->Update(&context, request, &response); });
  }
  std::vector<std::uint64_t> meeting(const std::string& filter) {
    wire::ListRequest request;
    request.set_filter(filter);
    request.set_most(1000);
    wire::ListResponse response;
    EXPECT_TRUE(ask([&](auto& c) { return stub->List(&c, request, &response); }).ok());
    return {response.ids().begin(), response.ids().end()};
  }
};

using IdList = std::vector<std::uint64_t>;

TEST_F(UpdatesOverTheWire, GiveIdsNewValuesAndLeaveTheRest) {
  start();
  insert_priced(0, 50);
  ASSERT_TRUE(flush().ok());
  insert_priced(50, 60);
  wire::UpdateResponse told;
  const auto three = price_request({7, 55, 1000}, {std::int64_t{700}, {}, std::int64_t{1}});
  ASSERT_TRUE(update(three, told).ok());
  EXPECT_EQ(told.done(), 2u);
  EXPECT_EQ(told.missing(), 1u);
  EXPECT_EQ(told.version(), collection().view()->version);
  EXPECT_EQ(meeting("price = 700"), IdList{7});
  EXPECT_EQ(meeting("price is null"), IdList{55});
  EXPECT_EQ(meeting("note = 'old'").size(), 60u);
  expect_rows(0, 50);
  ASSERT_TRUE(update(price_request({1, 2, 1}, {std::int64_t{-5}}), told).ok());
  EXPECT_EQ(told.done(), 2u);
  EXPECT_EQ(told.missing(), 1u) << "an id that comes again";
  EXPECT_EQ(meeting("price = -5"), (IdList{1, 2}));
  ASSERT_TRUE(update(price_request({9, 9}, {std::int64_t{90}, std::int64_t{91}}), told).ok());
  EXPECT_EQ(meeting("price in (90, 91) and id = 9 and price = 90"), IdList{9});
  ASSERT_TRUE(update(price_request({2000}, {std::int64_t{1}}), told).ok());
  EXPECT_EQ(told.done(), 0u);
  EXPECT_EQ(told.missing(), 1u);
  ASSERT_TRUE(compact().ok());
  expect_rows(0, 50);
  EXPECT_EQ(meeting("price = -5"), (IdList{1, 2}));
}

TEST_F(UpdatesOverTheWire, GiveRowsThatMeetAConditionOneValue) {
  start();
  insert_priced(0, 50);
  wire::UpdateResponse told;
  auto request = price_request({}, {std::int64_t{1000}});
  request.set_filter("price between 10 and 19");
  ASSERT_TRUE(update(request, told).ok());
  EXPECT_EQ(told.done(), 10u);
  EXPECT_EQ(meeting("price = 1000").size(), 10u);
  ASSERT_TRUE(update(request, told).ok());
  EXPECT_EQ(told.done(), 0u) << "none meets it any more";
  request.set_filter("prise = 3");
  const grpc::Status wrong = update(request, told);
  EXPECT_EQ(wrong.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(wrong.error_message(), HasSubstr("no column 'prise'"));
  request.set_filter("true");
  ASSERT_TRUE(update(request, told).ok());
  EXPECT_EQ(told.done(), 50u);
  EXPECT_EQ(stats().updated(), 60u);
  std::map<std::string, double> metrics;
  for (const auto& family : ServiceMetrics(statistics, *supervisor, service.get()).Collect()) {
    metrics[family.name] = family.metric.front().counter.value;
  }
  EXPECT_EQ(metrics.at("farvec_compute_collection_updated_total"), 60);
}

TEST_F(UpdatesOverTheWire, WrongOnesAreRefusedAndNothingChanges) {
  start();
  insert_priced(0, 10);
  wire::UpdateResponse told;
  const auto refused = [&](const wire::UpdateRequest& request) {
    const grpc::Status status = update(request, told);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    return status.error_message();
  };
  EXPECT_THAT(refused({}), HasSubstr("ids: 0 came"));
  auto request = price_request({1, 2}, {std::int64_t{1}, std::int64_t{2}, std::int64_t{3}});
  EXPECT_THAT(refused(request), HasSubstr("attribute_ends: 3 came with 2 ids"));
  request = price_request({1}, {{}});
  request.set_columns(0, "note");
  EXPECT_THAT(refused(request), HasSubstr("'note' is null"));
  request.set_columns(0, "noted");
  EXPECT_THAT(refused(request), HasSubstr("'noted'"));
  EXPECT_EQ(meeting("price >= 0 and note = 'old'").size(), 10u);
  EXPECT_EQ(stats().updated(), 0u);
}

TEST_F(CollectionServiceTest, WithoutASchemaNothingIsUpdated) {
  start();
  insert_ids(0, 5);
  wire::UpdateResponse told;
  const auto request = UpdatesOverTheWire::price_request({1}, {std::int64_t{1}});
  const grpc::Status status =
      ask([&](auto& context) { return stub->Update(&context, request, &told); });
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("'price'"));
}

/// Has no attributes, like the paged HNSW.
class BareIndex final : public changes::Changing {
 public:
  changes::RowShape row_shape() const override { return {.dimension = kSmallDimension}; }
  void check(const changes::RowBatch&) const override {}
  void insert(const changes::RowBatch&, const changes::Patience&, changes::Receipt&) override {}
  void erase(std::span<const std::uint64_t>, const changes::Patience&, changes::Receipt&) override {
  }
  changes::FoundRows get(std::span<const std::uint64_t>, const changes::Patience&) const override {
    return {};
  }
  bool flush(const Interruption&) override { return true; }
  bool compact(const Interruption&) override { return true; }
  nlohmann::ordered_json now() const override { return {}; }
};

class BareChanges final : public ServedChanges {
 public:
  changes::Changing& index() override { return index_; }
  std::size_t most_rows() const override { return 10; }
  std::size_t most_ids() const override { return 10; }
  void tell_state(wire::StatsResponse&) override {}

 private:
  BareIndex index_;
};

TEST(UpdatesOfABareIndex, AreRefusedByIt) {
  const tests::TemporaryFolder folder;
  const auto changes = std::make_shared<BareChanges>();
  CollectionService service([&] { return changes; }, {}, std::chrono::seconds(20));
  rpc::Server server(
      {rpc::parse_address("unix:" + folder.file("node")), false, nullptr, {&service}, {}});
  const auto stub = wire::Collection::NewStub(rpc::connect(server.address()));
  auto request = UpdatesOverTheWire::price_request({1}, {std::int64_t{1}});
  for (int i = 0; i < 2; ++i) {
    grpc::ClientContext context;
    wire::UpdateResponse told;
    const grpc::Status status = stub->Update(&context, request, &told);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
    EXPECT_THAT(status.error_message(), HasSubstr("attributes in a collection alone"));
    request.clear_ids();
    request.set_filter("true");
  }
  server.shutdown(std::chrono::milliseconds(1000));
}

}  // namespace
}  // namespace farvec::compute_node
