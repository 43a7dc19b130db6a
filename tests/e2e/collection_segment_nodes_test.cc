// A collection whose segments and log lie on memory nodes: searched there by its writer and by a
// follower, while nodes and writers are killed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/e2e/collection_nodes_fixture.h"

namespace farvec {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
using tests::kPatience;
using tests::Row;
using tests::Writer;
using tests::Writers;
namespace wire = collection::v1;
namespace search_wire = compute_node::v1;

class SegmentNodesE2e : public tests::NodesE2e {
 protected:
  /// Whether the row of the id is found; a search that fails is not, but an answer is never wrong.
  static bool finds(const std::shared_ptr<grpc::Channel>& channel, std::uint64_t id,
                    const Row& row) {
    search_wire::SearchResponse response;
    const grpc::Status status = try_search(channel, row, 1, response);
    if (!status.ok()) {
      EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE) << status.error_message();
      return false;
    }
    if (response.results(0).coverage() < 1) return false;
    EXPECT_EQ(response.results(0).user_ids_size(), 1);
    if (response.results(0).user_ids_size() == 0) return false;
    EXPECT_EQ(response.results(0).user_ids(0), id);
    EXPECT_EQ(response.results(0).distances(0), 0.0F);
    return true;
  }
  void expect_all_found(const std::map<std::uint64_t, Row>& rows) const {
    for (const auto& [id, row] : rows) {
      ASSERT_TRUE(comes([&, id = id] { return finds(channel, id, rows.at(id)); }))
          << "id " << id << node->output();
      ASSERT_TRUE(comes([&, id = id] { return finds(sight, id, rows.at(id)); }))
          << "id " << id << follower->output();
    }
  }
};

/// Searches of rows that do not change, on a thread of its own.
class Searches {
 public:
  Searches(std::function<bool(std::uint64_t, const Row&)> finds, std::map<std::uint64_t, Row> rows)
      : finds_(std::move(finds)), rows_(std::move(rows)), thread_([this] { run(); }) {}
  ~Searches() {
    stop_ = true;
    thread_.join();
  }

  std::atomic<int> found{0};
  std::atomic<int> missed{0};

 private:
  void run() {
    while (!stop_) {
      for (const auto& [id, row] : rows_) {
        if (stop_) return;
        ++(finds_(id, row) ? found : missed);
      }
    }
  }

  const std::function<bool(std::uint64_t, const Row&)> finds_;
  const std::map<std::uint64_t, Row> rows_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

TEST_P(SegmentNodesE2e, WritersAndAFollowerReadThemThere) {
  start_nodes_and_writer(slow() ? 1 : 2);
  if (HasFailure()) return;
  Writer first(channel, 1);
  write_rows(first, calls(60));
  follow();
  if (HasFailure()) return;
  expect_all_found(rows_of(first));
  Writer second(channel, 2);
  write_until(second, calls(60), [&] { kill_writer(); });
  start();
  if (HasFailure()) return;
  expect_kept(first);
  expect_kept(second);
  expect_seen(second);
  EXPECT_EQ(describe().follow_failure(), "");
  EXPECT_TRUE(comes([&] { return stats().failure().empty(); })) << stats().failure();
}

TEST_P(SegmentNodesE2e, ANodeMayDieWhileSearchesRun) {
  if (slow()) GTEST_SKIP() << "one node is what the lab's guest can run";
  start_nodes_and_writer(3);
  if (HasFailure()) return;
  Writer writer(channel, 1);
  write_rows(writer, calls(60));
  follow();
  if (HasFailure()) return;
  const std::map<std::uint64_t, Row> rows = rows_of(writer);
  expect_all_found(rows);
  {
    Searches here([this](std::uint64_t id, const Row& row) { return finds(channel, id, row); },
                  rows);
    Searches there([this](std::uint64_t id, const Row& row) { return finds(sight, id, row); },
                   rows);
    const auto more = [&] {
      const int before_here = here.found;
      const int before_there = there.found;
      return comes(
          [&] { return here.found > before_here + 50 && there.found > before_there + 50; });
    };
    EXPECT_TRUE(more());
    const std::size_t deaths = GetParam() == "shm" ? 3 : 1;
    for (std::size_t i = 0; i < deaths; ++i) {
      kill_node(i);
      EXPECT_TRUE(more()) << node->output();
      EXPECT_TRUE(has_copies_of_log(2)) << node->output();
      start_node(i);
      EXPECT_TRUE(more());
      // Everything is on two nodes again before the next one dies.
      ASSERT_TRUE(comes([&] { return stats().failure().empty(); })) << stats().failure();
      EXPECT_TRUE(comes([&] { return stats().segment_copies_missing() == 0; }));
      EXPECT_TRUE(has_copies_of_log(3)) << node->output();
    }
    EXPECT_TRUE(more());
  }
  expect_all_found(rows);
}

TEST_P(SegmentNodesE2e, AProcessThatBeginsIsAnsweredAtOnce) {
  node_options = {"--segment-bytes", "64MiB"};
  const std::vector<std::string> on_nodes{"--segment-nodes", start_nodes(1), "--segment-tier",
                                          GetParam()};
  writer_options = on_nodes;
  start();
  if (HasFailure()) return;
  Writer writer(channel, 0);
  write_rows(writer, calls(40));
  EXPECT_TRUE(comes([&] { return stats().segment_copies_missing() == 0; }));
  std::vector<std::string> options = write_own_queries(rows_of(writer));
  options.insert(options.end(), on_nodes.begin(), on_nodes.end());
  // Its first question to the device is its first search: none is asked again.
  const auto [status, said] = collection_command("search", folder / "set", options);
  EXPECT_EQ(status, 0) << said;
  EXPECT_THAT(said, HasSubstr("1.0000"));
}

/// Of what is the same on every tier.
class MappedSegmentNodesE2e : public SegmentNodesE2e {};

TEST_P(MappedSegmentNodesE2e, WithoutNodesSearchesSayItAndNothingIsLost) {
  // The log in the folder: changes go on.
  node_options = {"--segment-bytes", "64MiB"};
  writer_options = {"--segment-nodes", start_nodes(1), "--segment-tier", GetParam()};
  start();
  if (HasFailure()) return;
  Writer writer(channel, 1);
  write_rows(writer, 40);
  kill_node(0);
  const auto rows = rows_of(writer);
  ASSERT_FALSE(rows.empty());
  const auto& [id, row] = *rows.begin();
  search_wire::SearchResponse response;
  EXPECT_TRUE(comes([&] {
    return try_search(channel, row, 1, response).error_code() == grpc::StatusCode::UNAVAILABLE;
  }));
  EXPECT_TRUE(insert(1).ok());
  EXPECT_TRUE(comes([&] { return !stats().failure().empty(); }));
  EXPECT_THAT(stats().failure(), HasSubstr(node_address(0)));
  EXPECT_TRUE(comes([&] {  // a merge may have ended between the two
    const wire::StatsResponse now = stats();
    return now.segment_copies_missing() == now.segments();
  }));
  start_node(0);
  EXPECT_TRUE(comes([&] { return stats().segment_copies_missing() == 0; }));
  for (const auto& [other, its] : rows) {
    ASSERT_TRUE(comes([&, other = other] { return finds(channel, other, rows.at(other)); }))
        << node->output();
  }
}

TEST_P(SegmentNodesE2e, NothingIsLostByKills) {
  const int count = kills(5, 2);
  start_nodes_and_writer(slow() ? 1 : 3);
  if (HasFailure()) return;
  Writers writers;
  Random random(5);
  for (int n = 0; n < count; ++n) {
    if (n == 1) follow();
    if (n > 0 && n % 2 == 0 && nodes.size() > 1) {
      kill_node(static_cast<std::size_t>(n / 2 % 3));
      start_node(static_cast<std::size_t>(n / 2 % 3));
    }
    write_until(writers.next(channel), 1 + calls(static_cast<int>(random.below(60))),
                [&] { kill_writer(); });
    start();
    if (HasFailure()) return;
  }
  writers.for_each([&](const Writer& writer) {
    expect_kept(writer);
    expect_seen(writer);
  });
  tell("writers, and half as many of nodes with log and segments", count, openings);
}

INSTANTIATE_TEST_SUITE_P(Tiers, MappedSegmentNodesE2e, testing::Values("shm"));
INSTANTIATE_TEST_SUITE_P(Tiers, SegmentNodesE2e, testing::Values("shm", "fabric:tcp", "verbs"),
                         [](const auto& tier) {
                           return tier.param == "fabric:tcp" ? "fabric" : tier.param;
                         });

}  // namespace
}  // namespace farvec
