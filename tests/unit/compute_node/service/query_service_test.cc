#include "compute_node/service/query_service.h"

#include <cmath>
#include <future>
#include <thread>

#include "tests/unit/compute_node/service/query_service_fixture.h"

namespace farvec::compute_node {
namespace {

using testing::HasSubstr;

TEST_F(QueryServiceTest, AnswersManyQueriesInTheirOrder) {
  start();
  v1::SearchResponse response;
  const grpc::Status status = search(request({9, 0, 49}), &response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  ASSERT_EQ(response.results_size(), 3);
  EXPECT_EQ(response.results(0).ids(0), 9u);
  EXPECT_EQ(response.results(1).ids(0), 0u);
  EXPECT_EQ(response.results(2).ids(0), 49u);
  EXPECT_EQ(response.results(2).ids(1), 48u);
  EXPECT_FLOAT_EQ(response.results(2).distances(1), 3);
  EXPECT_EQ(response.results(0).counts().reads(), 50u);
  EXPECT_GT(response.results(0).latency_us(), 0);
  EXPECT_EQ(response.generation(), 1u);
}

TEST_F(QueryServiceTest, NamesTheFieldThatDoesNotFit) {
  start();
  auto asked = request();
  asked.set_dimension(4);
  expect_refused(asked, "dimension: 4 came, 3");
  asked = request();
  asked.set_type(v1::ELEMENT_TYPE_U8);
  expect_refused(asked, "type: u8 came, f32");
  asked = request();
  asked.clear_type();
  expect_refused(asked, "type:");
  asked = request();
  asked.set_k(0);
  expect_refused(asked, "k: 0 came, 1 to 40");
  asked.set_k(51);
  expect_refused(asked, "k: 51 came");
  asked = request();
  asked.set_list(1);
  expect_refused(asked, "list: 1 came, 2 to 64");
  asked.set_list(0);
  expect_refused(asked, "list: 0 came");
  asked.set_list(65);
  expect_refused(asked, "list: 65 came");
  asked = request();
  asked.set_width(0);
  expect_refused(asked, "width: 0 came, 1 to 64");
  asked.set_width(65);
  expect_refused(asked, "width: 65 came");
  expect_refused(request({}), "queries: 0 came");
  expect_refused(request({1, 2, 3, 4, 5, 6, 7, 8, 9}), "queries: 9 came, 1 to 8");
}

TEST_F(QueryServiceTest, RefusesQueriesOfAnotherLengthAndNonFiniteOnes) {
  start();
  auto asked = request({1});
  asked.add_queries(row(1, 2));
  expect_refused(asked, "queries[1]: 8 bytes came, 12");
  expect_refused(request({1, NAN}), "queries[1]: a vector came that holds NaN or infinity");
  expect_refused(request({INFINITY}), "queries[0]: a vector came that holds NaN or infinity");
  expect_refused(request({1, 1e19f}), "queries[1]: a vector came that is too long");
}

TEST_F(QueryServiceTest, AFullQueueIsRefusedAndLaterServed) {
  start(1);
  controls.hold = true;
  std::vector<std::thread> callers;
  std::atomic<int> answered{0};
  for (int i = 0; i < 2; ++i) {
    callers.emplace_back([&] { answered += search(request()).ok(); });
    ASSERT_TRUE(eventually([&] {
      const auto engine = supervisor->engine();
      return engine->running() == 1 && engine->queued() == static_cast<std::uint32_t>(i);
    }));
  }
  const grpc::Status status = search(request());
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(status.error_message(), HasSubstr("1 of 1 places"));
  EXPECT_EQ(refused_metric("queue_full"), 1);
  controls.hold = false;
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(answered, 2);
  EXPECT_TRUE(search(request()).ok());
}

TEST_F(QueryServiceTest, ADeadlineEndsTheCallAndFreesTheSlot) {
  start();
  controls.hold = true;
  EXPECT_EQ(search(request({1, 2}), nullptr, 30).error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_TRUE(eventually([&] {
    const auto engine = supervisor->engine();
    return engine->running() == 0 && engine->queued() == 0;
  }));
  controls.hold = false;
  EXPECT_TRUE(search(request()).ok());
}

TEST_F(QueryServiceTest, ALostMemoryNodeEndsQueriesBeforeTheirDeadlineAndComesBack) {
  start();
  controls.hold = true;
  grpc::Status running;
  std::thread caller([&] { running = search(request({1, 2, 3})); });
  ASSERT_TRUE(eventually([&] { return supervisor->engine()->running() == 1; }));
  controls.reachable = false;
  controls.alive = false;
  caller.join();
  EXPECT_EQ(running.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_TRUE(eventually([&] { return supervisor->engine() == nullptr; }));
  const grpc::Status refused = search(request());
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_THAT(refused.error_message(), HasSubstr("memory node nowhere:1"));
  controls.hold = false;
  controls.reachable = true;
  ASSERT_TRUE(attached());
  v1::SearchResponse response;
  EXPECT_TRUE(search(request(), &response).ok());
  EXPECT_EQ(response.generation(), 2u);
  EXPECT_EQ(supervisor->reopened(), 1u);
}

TEST_F(QueryServiceTest, DescribesItselfAndCounts) {
  start();
  ASSERT_TRUE(search(request({1, 2})).ok());
  ASSERT_FALSE(search(request({})).ok());
  grpc::ClientContext describe_context, stats_context;
  v1::DescribeResponse described;
  ASSERT_TRUE(stub->Describe(&describe_context, {}, &described).ok());
  EXPECT_TRUE(described.attached());
  EXPECT_EQ(described.count(), 50u);
  EXPECT_EQ(described.type(), v1::ELEMENT_TYPE_F32);
  EXPECT_EQ(described.max_queries_per_call(), 8u);
  v1::StatsResponse stats;
  ASSERT_TRUE(stub->Stats(&stats_context, {}, &stats).ok());
  EXPECT_EQ(stats.queries_ok(), 2u);
  EXPECT_EQ(stats.queries_failed(), 1u);
  EXPECT_EQ(stats.totals().reads(), 100u);
  EXPECT_DOUBLE_EQ(stats.compute_dram_bytes_per_vector(), 20);
  EXPECT_LE(stats.latency_p50_us(), stats.latency_max_us());
}

TEST_F(QueryServiceTest, TellsHowOftenClustersWereProbed) {
  start();
  const auto ask = [&](v1::ProbeCountsResponse& response) {
    grpc::ClientContext context;
    return stub->ProbeCounts(&context, {}, &response);
  };
  v1::ProbeCountsResponse response;
  EXPECT_EQ(ask(response).error_code(), grpc::StatusCode::FAILED_PRECONDITION);  // a graph
  controls.count_probes = true;
  ASSERT_TRUE(ask(response).ok());
  EXPECT_EQ(response.dataset(), "fake");
  EXPECT_EQ(response.centroids_xxh3(), 7u);
  EXPECT_THAT(response.counts(), testing::ElementsAre(3, 0, 5));
  EXPECT_EQ(response.generation(), 1u);
  controls.reachable = false;
  controls.alive = false;
  ASSERT_TRUE(eventually([&] { return supervisor->engine() == nullptr; }));
  EXPECT_EQ(ask(response).error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(QueryServiceTest, TellsPrometheusTheSame) {
  start();
  ASSERT_TRUE(search(request({1, 2, 3})).ok());
  double ok = -1, reads = -1, samples = -1;
  for (const auto& family : ServiceMetrics(statistics, *supervisor).Collect()) {
    if (family.name == "farvec_compute_queries_total") ok = family.metric[0].counter.value;
    if (family.name == "farvec_compute_reads_total") reads = family.metric[0].counter.value;
    if (family.name == "farvec_compute_query_latency_seconds") {
      samples = static_cast<double>(family.metric[0].histogram.sample_count);
    }
  }
  EXPECT_EQ(ok, 3);
  EXPECT_EQ(reads, 150);
  EXPECT_EQ(samples, 3);
}

TEST_F(QueryServiceTest, ADrainingNodeRefuses) {
  start();
  service->drain();
  EXPECT_EQ(search(request()).error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(QueryServiceTest, ANewerIndexTakesOverAndTheOlderEndsItsQueries) {
  start();
  controls.held = 1;
  v1::SearchResponse older, newer;
  auto old = std::async(std::launch::async, [&] { return search(request(), &older); });
  ASSERT_TRUE(eventually([&] { return supervisor->engine()->running() == 1; }));
  controls.newest = 2;
  ASSERT_TRUE(eventually([&] { return supervisor->engine()->index().generation == 2; }));
  ASSERT_TRUE(search(request(), &newer).ok());
  EXPECT_EQ(newer.generation(), 2u);
  EXPECT_EQ(controls.open.load(), 2) << "the older one still has a query";
  EXPECT_EQ(supervisor->unanswered(), 1u);
  controls.newest = 3;  // waits until the first one has ended
  controls.held = 0;
  const grpc::Status status = old.get();
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(older.generation(), 1u);
  EXPECT_TRUE(eventually([&] { return supervisor->engine()->index().generation == 3; }));
  EXPECT_TRUE(eventually([&] { return controls.open == 1; }));
  EXPECT_EQ(supervisor->switched(), 2u);
  EXPECT_EQ(supervisor->reopened(), 0u);
}

TEST_F(QueryServiceTest, ANewerIndexThatCannotBeOpenedChangesNothing) {
  start();
  controls.reachable = false;
  controls.newest = 2;
  for (int i = 0; i < 50; ++i) {
    v1::SearchResponse response;
    ASSERT_TRUE(search(request(), &response).ok());
    EXPECT_EQ(response.generation(), 1u);
  }
  controls.reachable = true;
  EXPECT_TRUE(eventually([&] { return supervisor->engine()->index().generation == 2; }));
}

TEST_F(QueryServiceTest, AnOlderIndexThatIsLostEndsItsQueries) {
  start();
  controls.held = 1;
  auto old = std::async(std::launch::async, [&] { return search(request()); });
  ASSERT_TRUE(eventually([&] { return supervisor->engine()->running() == 1; }));
  controls.newest = 2;
  ASSERT_TRUE(eventually([&] { return supervisor->engine()->index().generation == 2; }));
  controls.alive = false;
  EXPECT_EQ(old.get().error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_TRUE(eventually([&] { return search(request()).ok(); })) << "it is opened again";
}

TEST_F(QueryServiceTest, ManySwitchesLoseNothing) {
  start(1000);
  std::atomic<bool> stop{false};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      while (!stop) {
        v1::SearchResponse response;
        const grpc::Status status = search(request({9, 0}), &response);
        ASSERT_TRUE(status.ok()) << status.error_message();
        ASSERT_EQ(response.results_size(), 2);
        EXPECT_EQ(response.results(0).ids(0), 9u);
      }
    });
  }
  for (int newest = 2; newest < 40; ++newest) {
    controls.newest = newest;
    EXPECT_TRUE(eventually([&] {
      return supervisor->engine()->index().generation == static_cast<std::uint64_t>(newest);
    }));
  }
  stop = true;
  for (std::thread& caller : callers) caller.join();
  EXPECT_TRUE(eventually([&] { return controls.open == 1; }));
  EXPECT_EQ(supervisor->switched(), 38u);
}

TEST_F(QueryServiceTest, HundredsOfCallsMayWait) {
  start(1000);
  controls.hold = true;
  grpc::CompletionQueue queue;
  struct Call {
    grpc::ClientContext context;
    v1::SearchResponse response;
    grpc::Status status;
    std::unique_ptr<grpc::ClientAsyncResponseReader<v1::SearchResponse>> reader;
  };
  std::vector<Call> calls(500);
  for (Call& call : calls) {
    call.reader = stub->AsyncSearch(&call.context, request(), &queue);
    call.reader->Finish(&call.response, &call.status, &call);
  }
  EXPECT_TRUE(eventually([&] { return supervisor->engine()->queued() == 499; }));
  controls.hold = false;
  void* tag;
  bool ok;
  for (std::size_t i = 0; i < calls.size(); ++i) ASSERT_TRUE(queue.Next(&tag, &ok));
  for (const Call& call : calls) EXPECT_TRUE(call.status.ok()) << call.status.error_message();
}

TEST(SupervisorService, GivesUpOnTheFirstOpeningAndSaysWhomItWaitedFor) {
  FakeControls controls;
  controls.reachable = false;
  FakeBackend backend(controls);
  Replier replier;
  SupervisorOptions options;
  options.attach_bound = std::chrono::milliseconds(10);
  options.first_back_off = std::chrono::milliseconds(1);
  Supervisor supervisor(backend, replier, options);
  ASSERT_TRUE(eventually([&] { return !supervisor.failure().empty(); }));
  EXPECT_THAT(supervisor.failure(), HasSubstr("memory node nowhere:1"));
  EXPECT_THAT(supervisor.failure(), HasSubstr("connection refused"));
}

}  // namespace
}  // namespace farvec::compute_node
