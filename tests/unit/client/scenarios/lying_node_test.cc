// Clients of a node that says what it likes.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "client/remote_collection.h"
#include "client/remote_search.h"
#include "dataset/view_reader.h"
#include "rpc/collection.grpc.pb.h"
#include "rpc/server.h"
#include "tests/unit/client/sound_answers.h"
#include "tests/unit/message_of.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::client {
namespace {

using testing::HasSubstr;
using tests::message_of;
namespace v1 = compute_node::v1;
namespace wire = collection::v1;

struct Searches final : v1::ComputeNode::Service {
  grpc::Status Describe(grpc::ServerContext*, const v1::DescribeRequest*,
                        v1::DescribeResponse* response) override {
    *response = describe;
    return grpc::Status::OK;
  }
  grpc::Status Search(grpc::ServerContext*, const v1::SearchRequest*,
                      v1::SearchResponse* response) override {
    *response = search;
    return grpc::Status::OK;
  }
  v1::DescribeResponse describe;
  v1::SearchResponse search;
};

struct Changes final : wire::Collection::Service {
  grpc::Status Stats(grpc::ServerContext*, const wire::StatsRequest*,
                     wire::StatsResponse* response) override {
    *response = stats;
    return grpc::Status::OK;
  }
  grpc::Status Get(grpc::ServerContext*, const wire::GetRequest*,
                   wire::GetResponse* response) override {
    *response = get;
    return grpc::Status::OK;
  }
  grpc::Status Insert(grpc::ServerContext*, const wire::InsertRequest*,
                      wire::InsertResponse* response) override {
    response->set_done(1'000'000);
    return grpc::Status::OK;
  }
  grpc::Status Delete(grpc::ServerContext*, const wire::DeleteRequest*,
                      wire::DeleteResponse* response) override {
    response->set_missing(~0ull);
    return grpc::Status::OK;
  }
  grpc::Status Update(grpc::ServerContext*, const wire::UpdateRequest* request,
                      wire::UpdateResponse* response) override {
    updates.push_back(*request);
    response->set_done(lies ? ~0ull : static_cast<std::uint64_t>(request->ids_size()));
    return grpc::Status::OK;
  }
  wire::StatsResponse stats;
  wire::GetResponse get;
  std::vector<wire::UpdateRequest> updates;
  bool lies = false;
};

class LyingNode : public testing::Test {
 protected:
  LyingNode() {
    searches_.describe = sound_description();
    searches_.describe.set_dimension(2);
    searches_.describe.set_layout("collection");
    changes_.stats = sound_state(2);
    options_.node.address = "unix:" + folder_.file("node");
    options_.wide_ids = true;
    options_.deadline = std::chrono::seconds(60);  // a sanitizer takes long for millions of ids
    server_.emplace(rpc::ServerOptions{
        rpc::parse_address(options_.node.address), false, nullptr, {&searches_, &changes_}, {}});
  }
  VectorView rows() const { return packed_view(rows_.data(), 1, 2, ElementType::f32); }
  RemoteResults search() const {
    dataset::ViewReader queries(rows(), "queries");
    return search_remote(options_, queries);
  }
  RemoteCollection connect() const { return {options_.node, {}}; }

  const std::array<float, 2> rows_{1, 2};
  const std::array<std::uint64_t, 1> ids_{7};
  tests::TemporaryFolder folder_;
  Searches searches_;
  Changes changes_;
  RemoteSearchOptions options_;
  std::optional<rpc::Server> server_;
};

TEST_F(LyingNode, SendsMoreIdsThanWereAskedFor) {
  const std::uint32_t k = options_.parameters.k;
  v1::QueryResult& result = add_result(searches_.search, {.ids = k, .user_ids = k, .distances = k});
  EXPECT_EQ(search().user_ids.size(), k) << "so far it is right";
  result.mutable_user_ids()->Resize(4'000'000, 0x4141414141414141);
  const std::string message = message_of([&] { (void)search(); });
  EXPECT_THAT(message, HasSubstr(options_.node.address));
  EXPECT_THAT(message, HasSubstr("4000000 user_ids"));
  result.clear_user_ids();
  result.mutable_ids()->Resize(4'000'000, 1);
  EXPECT_THAT(message_of([&] { (void)search(); }), HasSubstr("4000000 ids"));
}

TEST_F(LyingNode, DescribesAnIndexThatCannotBe) {
  searches_.describe.set_dimension(0);
  EXPECT_THAT(message_of([&] { (void)search(); }), HasSubstr("dimension 0"));
  searches_.describe.set_dimension(2);
  searches_.describe.set_metric(static_cast<v1::Metric>(99));
  EXPECT_THAT(message_of([&] { (void)search(); }), HasSubstr("metric 99"));
}

TEST_F(LyingNode, IsSentNoRowsThatItsCollectionCannotTake) {
  const RemoteCollection collection = connect();
  const auto said = [&](const VectorView& rows, const std::vector<std::uint64_t>& ids) {
    return message_of([&] { collection.check({rows, ids}); });
  };
  EXPECT_EQ(said(rows(), {7}), "");
  EXPECT_THAT(said(rows(), {}), HasSubstr("1 rows and 0 ids"));
  EXPECT_THAT(said(rows().part(0, 0), {7}), HasSubstr("0 rows and 1 ids"));
  const std::array<float, 4> bad{1, 2, std::numeric_limits<float>::quiet_NaN(), 2};
  const VectorView two = packed_view(bad.data(), 2, 2, ElementType::f32);
  EXPECT_THAT(said(two, {7, 8}), HasSubstr("row 1 (id 8) holds NaN"));
  EXPECT_THAT(said(packed_view(bad.data(), 1, 4, ElementType::f32), {7}),
              HasSubstr("rows of 4 x f32 do not fit a collection of 2 x f32"));
  EXPECT_THAT(said(packed_view(bad.data(), 0, 2, ElementType::f32), {}), "");
}

/// A node that does not lie for once: the values of a large update come in several calls.
TEST_F(LyingNode, TakesLargeUpdatesInSeveralCalls) {
  RemoteCollection collection = connect();
  const layout::Schema schema = layout::parse_schema("note: string");
  layout::Tuples values;
  std::vector<std::uint64_t> ids;
  for (std::uint64_t id = 0; id < 40; ++id) {
    ids.push_back(id / 2 * 2);  // each comes twice
    values.append(schema, std::vector<layout::Value>{std::string(60'000, 'n')});
  }
  changes::Receipt receipt;
  collection.update(ids, {{"note"}, values.view()}, {}, receipt);
  ASSERT_EQ(changes_.updates.size(), 2u);
  EXPECT_EQ(changes_.updates[0].ids_size(), 17);
  EXPECT_EQ(changes_.updates[0].attribute_ends_size(), 17);
  EXPECT_EQ(changes_.updates[1].ids_size(), 3);
  EXPECT_EQ(changes_.updates[1].columns(0), "note");
  EXPECT_EQ(receipt.done, 20u);
  EXPECT_EQ(receipt.missing, 20u);
  collection.update(ids, {{"note"}, values.view().part(0, 1)}, {}, receipt);
  ASSERT_EQ(changes_.updates.size(), 3u) << "one tuple for all is one call";
  EXPECT_EQ(changes_.updates[2].attribute_ends_size(), 1);
  collection.update_matching("", {{"note"}, values.view().part(3, 1)}, {}, receipt);
  EXPECT_EQ(changes_.updates[3].filter(), "true");
  EXPECT_EQ(changes_.updates[3].ids_size(), 0);
  EXPECT_EQ(changes_.updates[3].attribute_ends(0), changes_.updates[3].attributes().size());
  EXPECT_THAT(message_of([&] {
                collection.update(ids, {{"note"}, values.view().part(0, 3)}, {}, receipt);
              }),
              HasSubstr("40 ids and the new values of 3 rows"));
}

TEST_F(LyingNode, SaysOfItsCollectionWhatCannotBe) {
  RemoteCollection collection = connect();
  changes_.get.add_found(true);
  EXPECT_THAT(message_of([&] { (void)collection.get(ids_, {}); }), HasSubstr("0 bytes of rows"));
  changes::Receipt receipt;
  EXPECT_THAT(message_of([&] {
                collection.insert({rows(), ids_}, {}, receipt);
              }),
              HasSubstr("1000000 of 1 rows"));
  EXPECT_THAT(message_of([&] { collection.erase(ids_, {}, receipt); }), HasSubstr("were not"));
  changes_.lies = true;
  layout::Tuples values;
  values.append(layout::null_tuple());
  EXPECT_THAT(message_of([&] {
                collection.update(ids_, {{"price"}, values.view()}, {}, receipt);
              }),
              HasSubstr("were not"));
  changes_.stats.set_dimension(0);
  EXPECT_THAT(message_of([&] { (void)connect(); }), HasSubstr("dimension 0"));
  changes_.stats.set_dimension(2);
  changes_.stats.set_stored_type(static_cast<wire::ElementType>(99));
  EXPECT_THAT(message_of([&] { (void)connect(); }), HasSubstr("stored_type 99"));
}

}  // namespace
}  // namespace farvec::client
