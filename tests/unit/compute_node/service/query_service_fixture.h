// A query service with nothing behind it but the fake backend.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "compute_node/daemon/metrics.h"
#include "compute_node/service/query_service.h"
#include "rpc/channel.h"
#include "rpc/server.h"
#include "tests/unit/compute_node/fake_backend.h"

namespace farvec::compute_node {

/// A service on a Unix socket over the fake backend: 50 vectors of 3 x f32.
struct QueryServiceTest : testing::Test {
  FakeControls controls;
  FakeBackend backend{controls};
  ServiceStatistics statistics;
  Replier replier;
  std::unique_ptr<Supervisor> supervisor;
  RecallOptions sampling;  ///< of start(); by default no search is repeated
  std::unique_ptr<RecallSampler> recall;
  std::unique_ptr<QueryService> service;
  std::unique_ptr<rpc::Server> server;
  std::unique_ptr<v1::ComputeNode::Stub> stub;
  std::shared_ptr<grpc::Channel> channel;

  void start(std::uint32_t queue = 8) {
    const std::string path = testing::TempDir() + "farvec-query-" + std::to_string(getpid());
    SupervisorOptions options;
    options.engine = {1, queue, false};
    options.first_back_off = std::chrono::milliseconds(1);
    options.last_back_off = std::chrono::milliseconds(5);
    options.attach_bound = std::chrono::milliseconds(20'000);
    supervisor = std::make_unique<Supervisor>(backend, replier, options);
    QueryServiceOptions service_options;
    service_options.limits = {40, 64, queue, 10, 2};
    service_options.default_deadline = std::chrono::seconds(30);
    if (sampling.share > 0) recall = std::make_unique<RecallSampler>(*supervisor, sampling);
    service =
        std::make_unique<QueryService>(*supervisor, statistics, service_options, recall.get());
    server = std::make_unique<rpc::Server>(rpc::ServerOptions{
        rpc::parse_address("unix:" + path), false, nullptr, {service.get()}, {}});
    channel = rpc::connect(server->address());
    stub = v1::ComputeNode::NewStub(channel);
    if (controls.reachable) {
      ASSERT_TRUE(attached());
    }
  }

  void TearDown() override {
    controls.hold = false;
    if (server) server->shutdown(std::chrono::milliseconds(1000));
    if (recall) recall->stop();
    if (supervisor) supervisor->stop();
  }

  bool attached() {
    return eventually([&] { return supervisor->engine() != nullptr; });
  }

  static std::string row(float value, std::size_t dimension = 3) {
    const std::vector<float> elements(dimension, value);
    return {reinterpret_cast<const char*>(elements.data()), dimension * sizeof(float)};
  }

  static v1::SearchRequest request(std::initializer_list<float> rows = {7}) {
    v1::SearchRequest made;
    made.set_type(v1::ELEMENT_TYPE_F32);
    made.set_dimension(3);
    made.set_k(2);
    for (float value : rows) made.add_queries(row(value));
    return made;
  }

  grpc::Status search(const v1::SearchRequest& asked, v1::SearchResponse* response = nullptr,
                      int deadline_ms = 30'000) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(deadline_ms));
    v1::SearchResponse ignored;
    return stub->Search(&context, asked, response != nullptr ? response : &ignored);
  }

  v1::StatsResponse stats() {
    grpc::ClientContext context;
    v1::StatsResponse response;
    EXPECT_TRUE(stub->Stats(&context, {}, &response).ok());
    return response;
  }

  double refused_metric(const std::string& reason) {
    for (const auto& family : ServiceMetrics(statistics, *supervisor).Collect()) {
      if (family.name != "farvec_compute_queries_refused_total") continue;
      for (const auto& metric : family.metric) {
        if (metric.label[0].value == reason) return metric.counter.value;
      }
    }
    return -1;
  }

  void expect_refused(const v1::SearchRequest& asked, const std::string& field) {
    const grpc::Status status = search(asked);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << field;
    EXPECT_THAT(status.error_message(), testing::StartsWith(field));
    EXPECT_THAT(status.error_message(), testing::HasSubstr("came"));
    EXPECT_THAT(status.error_message(), testing::HasSubstr("allowed"));
  }
};

}  // namespace farvec::compute_node
