// More changes than a collection can take, and calls that do not end in time.
#include <future>

#include "tests/unit/compute_node/collection/collection_service_fixture.h"

namespace farvec::compute_node {
namespace {

using testing::HasSubstr;

struct ChangePressure : CollectionServiceTest {
  /// An insert that finds no room, under way.
  std::future<grpc::StatusCode> waiting_insert(int deadline_ms) {
    auto request = insert_request(random_rows(2'000'000, 2'000'010));
    auto call = std::async(std::launch::async, [this, request, deadline_ms] {
      grpc::ClientContext context;
      context.set_deadline(std::chrono::system_clock::now() +
                           std::chrono::milliseconds(deadline_ms));
      wire::InsertResponse response;
      return stub->Insert(&context, request, &response).error_code();
    });
    EXPECT_TRUE(eventually([&] { return service->stats().calls_in_flight() > 0; }));
    return call;
  }
  void expect_refused(const grpc::Status& status, const std::string& why) {
    EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED) << status.error_message();
    EXPECT_EQ(refusal, why);
    EXPECT_FALSE(pushback.empty());
    EXPECT_GE(std::atoi(pushback.c_str()), 1);
  }
};

TEST_F(ChangePressure, NoRoomBeforeTheDeadlineIsSaidInTime) {
  start();
  fill_memtables();
  const grpc::Status status = insert(insert_request(random_rows(0, 10)), 1'500);
  expect_refused(status, "no_room");
  EXPECT_EQ(stats().refused_no_room(), 1u);
  EXPECT_NE(stats().failure(), "");
  EXPECT_THAT(status.error_message(), HasSubstr(stats().failure()));
  EXPECT_GT(stats().failures(), 0u);
  rows[1'000'000];         // is there
  erase_ids({1'000'000});  // needs no room
  mend_segments();
  EXPECT_TRUE(flush().ok());
  insert_ids(0, 10);
  expect_rows(0, 10);
  EXPECT_TRUE(flush().ok());
  EXPECT_EQ(stats().failure(), "");
}

TEST_F(ChangePressure, CallsBeyondTheBoundAreRefusedAtOnce) {
  source.changes.threads = 1;
  source.changes.calls = 1;
  start();
  fill_memtables();
  auto waiting = waiting_insert(60'000);
  ASSERT_TRUE(eventually([&] { return !stats().failure().empty(); })) << "a build has failed";
  const grpc::Status status = insert(insert_request(random_rows(0, 10)));
  expect_refused(status, "queue_full");
  EXPECT_THAT(status.error_message(), HasSubstr("as many calls under way as it takes"));
  EXPECT_THAT(status.error_message(), HasSubstr(stats().failure())) << "why they do not end";
  wire::DeleteRequest erased;
  erased.add_ids(1);
  wire::DeleteResponse response;
  expect_refused(ask([&](auto& context) { return stub->Delete(&context, erased, &response); }),
                 "queue_full");
  EXPECT_EQ(stats().refused_queue_full(), 2u) << "reads have threads of their own";
  mend_segments();
  EXPECT_TRUE(flush().ok());
  EXPECT_EQ(waiting.get(), grpc::StatusCode::OK);
}

TEST_F(ChangePressure, BytesBeyondTheBoundAreRefusedAtOnce) {
  source.changes.bytes = 400;
  start();
  ASSERT_TRUE(insert(insert_request(random_rows(0, 10))).ok());
  expect_refused(insert(insert_request(random_rows(0, 20))), "queue_full");
  EXPECT_EQ(stats().bytes_in_flight(), 0u);
}

TEST_F(ChangePressure, ACallWhoseTurnComesTooLateIsNotBegun) {
  source.changes.threads = 1;
  start();
  fill_memtables();
  auto waiting = waiting_insert(60'000);
  EXPECT_NE(insert(insert_request(random_rows(0, 10)), 50).error_code(), grpc::StatusCode::OK);
  mend_segments();
  EXPECT_TRUE(flush().ok());
  EXPECT_EQ(waiting.get(), grpc::StatusCode::OK);
  ASSERT_TRUE(flush().ok());
  EXPECT_TRUE(eventually([&] { return service->unanswered() == 0; }));
  wire::GetRequest asked;
  asked.add_ids(0);
  wire::GetResponse got;
  ASSERT_TRUE(ask([&](auto& context) { return stub->Get(&context, asked, &got); }).ok());
  EXPECT_FALSE(got.found(0));
}

TEST_F(ChangePressure, AFlushThatFailsSaysWhy) {
  start();
  insert_ids(0, 10);
  spoil_segments();
  const grpc::Status status = flush();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_THAT(status.error_message(), HasSubstr("segments"));
  mend_segments();
  EXPECT_TRUE(flush().ok());
  EXPECT_EQ(collection().view()->segments.size(), 1u);
}

TEST_F(ChangePressure, FlushAndCompactEndAtTheDeadlineAndGoOn) {
  shape.options.memtable_rows = 8'000;
  shape.options.list = 100;
  start();
  insert_ids(0, 7'500);
  EXPECT_EQ(flush(20).error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_EQ(compact(20).error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_TRUE(compact(300'000).ok());
  EXPECT_EQ(size_of(*collection().view()).fresh, 0u);
  EXPECT_EQ(collection().view()->segments.size(), 1u);
  expect_rows(7'450, 7'550);
}

/// No turn is waited for: what is late is not refused, and begins.
TEST_F(ChangePressure, AFlushThatComesTooLateIsOverTheDeadlineAndGoesOn) {
  start();
  insert_ids(0, 10);
  // The answer is to go out 0.2 s before the deadline.
  arrival_ms = 850;
  const grpc::Status status = flush(1'000);
  arrival_ms = 0;
  EXPECT_EQ(status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED) << status.error_message();
  EXPECT_EQ(refusal, "");
  EXPECT_TRUE(eventually([&] { return !collection().view()->segments.empty(); }));
  EXPECT_EQ(stats().refused_too_late(), 0u);
}

TEST_F(ChangePressure, ManyClientsAtOnceLoseNothing) {
  source.changes.threads = 4;
  start();
  constexpr std::uint64_t kClients = 6;
  std::vector<std::future<int>> clients;
  for (std::uint64_t c = 0; c < kClients; ++c) {
    clients.push_back(std::async(std::launch::async, [this, c] {
      Random own(c);
      int ok = 0;
      for (std::uint64_t i = 0; i < 20; ++i) {
        Rows made;
        for (std::uint64_t n = 0; n < 10; ++n) {
          made[c * 1000 + i * 10 + n] = collection::random_row(own);
        }
        grpc::ClientContext context;
        wire::InsertResponse response;
        ok += stub->Insert(&context, insert_request(made), &response).ok() ? 1 : 0;
      }
      return ok;
    }));
  }
  for (int i = 0; i < 20; ++i) (void)search(collection::random_row(random), 10);
  for (auto& client : clients) EXPECT_EQ(client.get(), 20);
  for (std::uint64_t c = 0; c < kClients; ++c) {
    Random own(c);
    for (std::uint64_t i = 0; i < 200; ++i) rows[c * 1000 + i] = collection::random_row(own);
    for (std::uint64_t i = 0; i < 200; i += 50) expect_rows(c * 1000 + i, c * 1000 + i + 50);
  }
  EXPECT_EQ(stats().rows(), rows.size());
}

}  // namespace
}  // namespace farvec::compute_node
