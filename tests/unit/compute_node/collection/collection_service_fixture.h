// A collection behind both services of a compute node, and a map that says what it should hold.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "compute_node/backends/collection_backend.h"
#include "compute_node/backends/index_session.h"
#include "compute_node/collection/collection_service.h"
#include "compute_node/service/query_service.h"
#include "rpc/channel.h"
#include "rpc/refusal.h"
#include "rpc/server.h"
#include "tests/unit/collection/collection_fixture.h"
#include "tests/unit/compute_node/fake_backend.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::compute_node {

namespace wire = collection::v1;
using collection::kSmallDimension;
using collection::Rows;

struct CollectionServiceTest : testing::Test {
  tests::TemporaryFolder folder;
  ChangedSource source;
  layout::CollectionManifest shape = collection::small_shape();
  std::unique_ptr<CollectionBackend> backend;
  ServiceStatistics statistics;
  Replier replier;
  std::unique_ptr<Supervisor> supervisor;
  std::unique_ptr<QueryService> queries;
  std::unique_ptr<CollectionService> service;
  std::unique_ptr<rpc::Server> server;
  std::unique_ptr<wire::Collection::Stub> stub;
  std::unique_ptr<v1::ComputeNode::Stub> search_stub;
  Rows rows;  ///< what there should be
  Random random{5};
  /// Of the last call that was refused.
  std::string refusal, pushback;
  std::atomic<int> arrival_ms{0};  ///< how long every call takes to arrive, of its deadline

  CollectionServiceTest() {
    source.collection.name = folder.file("set");
    source.durability = "none";
  }

  void start() {
    collection::Collection::create(source.collection.name, shape);
    backend = std::make_unique<CollectionBackend>(
        source, BackendOptions{.largest = largest_searches({}, 1, 3), .tls = nullptr});
    supervisor = std::make_unique<Supervisor>(*backend, replier, SupervisorOptions{});
    queries = std::make_unique<QueryService>(*supervisor, statistics, QueryServiceOptions{});
    const auto collection_of_call = [this] {
      std::this_thread::sleep_for(std::chrono::milliseconds(arrival_ms));
      return backend->changes();
    };
    service = std::make_unique<CollectionService>(collection_of_call, source.changes,
                                                  std::chrono::seconds(20));
    server = std::make_unique<rpc::Server>(
        rpc::ServerOptions{rpc::parse_address("unix:" + folder.file("node")),
                           false,
                           nullptr,
                           {queries.get(), service.get()},
                           {}});
    const auto channel = rpc::connect(server->address());
    stub = wire::Collection::NewStub(channel);
    search_stub = v1::ComputeNode::NewStub(channel);
    ASSERT_TRUE(eventually([&] { return supervisor->engine() != nullptr; }));
  }
  void TearDown() override {
    if (service) service->drain();
    if (server) server->shutdown(std::chrono::milliseconds(1000));
    if (supervisor) supervisor->stop();
  }

  collection::Collection& collection() const { return *backend->collection(); }

  template <typename Call>
  grpc::Status ask(const Call& call, int deadline_ms = 60'000) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(deadline_ms));
    const grpc::Status status = call(context);
    const auto entry = [&](const char* key) {
      const auto found = context.GetServerTrailingMetadata().find(key);
      const auto& all = context.GetServerTrailingMetadata();
      return found == all.end() ? "" : std::string(found->second.data(), found->second.size());
    };
    refusal = entry(rpc::kRefusalKey);
    pushback = entry(rpc::kRetryAfterKey);
    return status;
  }

  static wire::InsertRequest insert_request(const Rows& inserted) {
    wire::InsertRequest request;
    request.set_type(wire::ELEMENT_TYPE_F32);
    request.set_dimension(kSmallDimension);
    for (const auto& [id, row] : inserted) {
      request.add_ids(id);
      request.mutable_rows()->append(reinterpret_cast<const char*>(row.data()),
                                     row.size() * sizeof(float));
    }
    return request;
  }
  Rows random_rows(std::uint64_t begin, std::uint64_t end) {
    Rows made;
    for (std::uint64_t id = begin; id < end; ++id) made[id] = collection::random_row(random);
    return made;
  }

  grpc::Status insert(const wire::InsertRequest& request, int deadline_ms = 60'000) {
    wire::InsertResponse response;
    return ask([&](auto& context) { return stub->Insert(&context, request, &response); },
               deadline_ms);
  }
  void insert_ids(std::uint64_t begin, std::uint64_t end) {
    const Rows made = random_rows(begin, end);
    wire::InsertResponse response;
    const auto request = insert_request(made);
    const grpc::Status status =
        ask([&](auto& context) { return stub->Insert(&context, request, &response); });
    ASSERT_TRUE(status.ok()) << status.error_message();
    const std::size_t before = rows.size();
    for (const auto& [id, row] : made) rows[id] = row;
    EXPECT_EQ(response.done(), made.size());
    EXPECT_EQ(response.done() - response.replaced(), rows.size() - before);
    EXPECT_EQ(response.version(), collection().view()->version);
  }
  void erase_ids(const std::vector<std::uint64_t>& ids) {
    wire::DeleteRequest request;
    request.mutable_ids()->Add(ids.begin(), ids.end());
    wire::DeleteResponse response;
    const grpc::Status status =
        ask([&](auto& context) { return stub->Delete(&context, request, &response); });
    ASSERT_TRUE(status.ok()) << status.error_message();
    std::uint64_t found = 0;
    for (const std::uint64_t id : ids) found += rows.erase(id);
    EXPECT_EQ(response.done(), found);
    EXPECT_EQ(response.missing(), ids.size() - found);
  }
  grpc::Status flush(int deadline_ms = 60'000) {
    wire::FlushResponse response;
    return ask([&](auto& context) { return stub->Flush(&context, {}, &response); }, deadline_ms);
  }
  grpc::Status compact(int deadline_ms = 60'000) {
    wire::CompactResponse response;
    return ask([&](auto& context) { return stub->Compact(&context, {}, &response); }, deadline_ms);
  }

  /// Get of the ids from `begin` on gives what the map has.
  void expect_rows(std::uint64_t begin, std::uint64_t end) {
    wire::GetRequest request;
    for (std::uint64_t id = begin; id < end; ++id) request.add_ids(id);
    wire::GetResponse response;
    const grpc::Status status =
        ask([&](auto& context) { return stub->Get(&context, request, &response); });
    ASSERT_TRUE(status.ok()) << status.error_message();
    ASSERT_EQ(response.found_size(), request.ids_size());
    EXPECT_EQ(response.dimension(), kSmallDimension);
    EXPECT_EQ(response.type(), wire::ELEMENT_TYPE_F32);
    EXPECT_EQ(response.version(), collection().view()->version);
    std::string expected;
    for (int i = 0; i < request.ids_size(); ++i) {
      const auto row = rows.find(request.ids(i));
      ASSERT_EQ(response.found(i), row != rows.end()) << "id " << request.ids(i);
      if (row == rows.end()) continue;
      expected.append(reinterpret_cast<const char*>(row->second.data()),
                      row->second.size() * sizeof(float));
    }
    EXPECT_EQ(response.rows(), expected);
  }

  static v1::SearchRequest search_request(const std::vector<float>& query, std::uint32_t k) {
    v1::SearchRequest request;
    request.set_type(v1::ELEMENT_TYPE_F32);
    request.set_dimension(kSmallDimension);
    request.set_k(k);
    request.set_list(1024);
    request.add_queries(
        {reinterpret_cast<const char*>(query.data()), query.size() * sizeof(float)});
    return request;
  }
  grpc::Status search(const v1::SearchRequest& request, v1::SearchResponse& response) {
    return ask([&](auto& context) { return search_stub->Search(&context, request, &response); });
  }
  v1::QueryResult search(const std::vector<float>& query, std::uint32_t k) {
    v1::SearchResponse response;
    const grpc::Status status = search(search_request(query, k), response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return status.ok() ? response.results(0) : v1::QueryResult();
  }

  wire::StatsResponse stats() {
    wire::StatsResponse response;
    const grpc::Status status =
        ask([&](auto& context) { return stub->Stats(&context, {}, &response); });
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }

  std::filesystem::path segments() const {
    return std::filesystem::path(source.collection.name) / layout::kCollectionSegmentsFolder;
  }
  /// No segment can be built from now on.
  void spoil_segments() const {
    std::filesystem::rename(segments(), folder.file("segments-away"));
    std::FILE* const file = std::fopen(segments().c_str(), "w");
    ASSERT_NE(file, nullptr);
    std::fclose(file);
  }
  void mend_segments() const {
    std::filesystem::remove(segments());
    std::filesystem::rename(folder.file("segments-away"), segments());
  }
  /// Fresh rows fill all memtables that there may be. Not in `rows`.
  void fill_memtables() {
    spoil_segments();
    for (std::uint64_t id = 1'000'000; id < 1'000'150; id += 50) {
      const grpc::Status status = insert(insert_request(random_rows(id, id + 50)));
      ASSERT_TRUE(status.ok()) << status.error_message();
    }
  }
};

}  // namespace farvec::compute_node
