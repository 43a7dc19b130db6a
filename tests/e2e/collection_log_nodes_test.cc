// A collection whose log lies on memory nodes: followed from there, and gone on with after its
// writer's death.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "tests/e2e/collection_nodes_fixture.h"
#include "tiers/attach/log_attachment.h"
#include "tiers/tier_spec.h"

namespace farvec {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
using tests::ChildProcess;
using tests::kPatience;
using tests::program;
using tests::Writer;
using tests::Writers;
namespace wire = collection::v1;

class LogNodesE2e : public tests::NodesE2e {
 protected:
  void start_logs(std::size_t count) {
    node_options = {"--log-bytes", "32MiB"};
    writer_options = {"--log-nodes", start_nodes(count), "--log-tier", GetParam()};
    follower_options = writer_options;
  }
};

TEST_P(LogNodesE2e, AFollowerReadsTheNodesAndTheNextWriterGoesOnFromThem) {
  // First with a log in the folder, which moves.
  start();
  if (HasFailure()) return;
  Writer before(channel, 5);
  write_until(before, 10, [&] { kill_writer(); });
  EXPECT_TRUE(std::filesystem::exists(folder / "set" / "log"));
  start_logs(slow() ? 1 : 3);
  start();
  if (HasFailure()) return;
  EXPECT_FALSE(std::filesystem::exists(folder / "set" / "log"));
  follow();
  if (HasFailure()) return;
  expect_kept(before);
  Writer writer(channel, 1);
  write_until(writer, some(100), [&] { kill_writer(); });
  expect_seen(writer);
  start();
  if (HasFailure()) return;
  expect_kept(before);
  expect_kept(writer);
  Writer next(channel, 2);
  write_until(next, some(20), [&] { node->signal(SIGTERM); });
  EXPECT_EQ(node->wait(), 0) << node->output();
  expect_seen(next);
  EXPECT_TRUE(comes([&] { return describe().freshness_ms() < 1e3; }));
  EXPECT_EQ(describe().follow_failure(), "");
}

TEST_P(LogNodesE2e, ASecondWriterIsRefused) {
  start_logs(2);
  start();
  if (HasFailure()) return;
  // On another machine, with a copy of the folder: no lock of the file system is in its way.
  std::filesystem::copy(folder / "set", folder / "copy", std::filesystem::copy_options::recursive);
  std::vector<std::string> words{program("farvec-compute-node"),
                                 "--collection",
                                 folder / "copy",
                                 "--listen",
                                 "unix:" + (folder / "second").string(),
                                 "--attach-seconds",
                                 "1"};
  words.insert(words.end(), writer_options.begin(), writer_options.end());
  ChildProcess second(words);
  EXPECT_EQ(second.wait(kPatience), 1);
  EXPECT_THAT(second.output(), HasSubstr("the log has a writer"));
  EXPECT_TRUE(insert(1).ok());
  ChildProcess without(
      {program("farvec"), "collection", "inspect", "--collection", folder / "set"});
  EXPECT_EQ(without.wait(kPatience), 1);
  EXPECT_THAT(without.output(), HasSubstr("lies on memory nodes"));
}

TEST_P(LogNodesE2e, ReadersWhoHaveEveryLeaseKeepTheNextWriterNotOut) {
  start_logs(0);
  node_options.insert(node_options.end(), {"--max-leases", "2"});
  writer_options[1] = start_nodes(1);
  start();
  if (HasFailure()) return;
  Writer writer(channel, 1);
  write_until(writer, some(20), [&] { kill_writer(); });
  tiers::AttachOptions attach;
  attach.memory_node = rpc::parse_address(node_address(0));
  attach.reads = tiers::parse_node_tier(GetParam())->read_path();
  const auto first = tiers::LogAttachment::for_reading(attach);
  const auto second = tiers::LogAttachment::for_reading(attach);
  EXPECT_THROW((void)tiers::LogAttachment::for_reading(attach), Error);
  start();
  if (HasFailure()) return;
  expect_kept(writer);
}

TEST_P(LogNodesE2e, OneOfThreeNodesMayDieAndTwoMayNot) {
  start_logs(3);
  start();
  follow();
  if (HasFailure()) return;
  Writer writer(channel, 1);
  int at_death = 0;
  write_until(writer, some(30), [&] {
    kill_node(0);
    at_death = writer.acknowledged;
    EXPECT_TRUE(comes([&] { return writer.acknowledged > at_death + some(29); })) << node->output();
    writer.stop = true;
  });
  EXPECT_TRUE(writer.asked.empty()) << node->output();
  expect_seen(writer);
  // While it writes: what a follower has not read by then is known again with the next node.
  Writer last(channel, 2);
  write_until(last, some(10), [&] { kill_node(1); });
  const grpc::Status refused = insert(1);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::UNAVAILABLE) << refused.error_message();
  EXPECT_THAT(refused.error_message(), HasSubstr("the log has ended"));
  // One is too few to know what was acknowledged.
  EXPECT_TRUE(comes([&] { return describe().follow_failure() != ""; }));
  EXPECT_THAT(describe().follow_failure(), HasSubstr("1 of 3 memory nodes"));
}

TEST_P(LogNodesE2e, EachNodeMayLoseItsMemoryWhileTheWriterRuns) {
  if (slow()) GTEST_SKIP() << "the lab has one node: with it goes the log";
  start_logs(3);
  start();
  follow();
  if (HasFailure()) return;
  EXPECT_EQ(stats().log_nodes(), 3u);
  EXPECT_EQ(stats().log_copies(), 3u);
  Writer writer(channel, 1);
  write_until(writer, 20, [&] {
    for (std::size_t i = 0; i < 3; ++i) {
      kill_node(i);
      EXPECT_TRUE(has_copies_of_log(2)) << node->output();
      start_node(i);
      ASSERT_TRUE(has_copies_of_log(3)) << node->output();
    }
    kill_writer();
  });
  expect_seen(writer);
  kill_node(0);  // the others know it all
  start();
  if (HasFailure()) return;
  EXPECT_EQ(stats().log_copies(), 2u);
  expect_kept(writer);
  start_node(0);
  EXPECT_TRUE(has_copies_of_log(3)) << "it was away when the log was opened" << node->output();
}

TEST_P(LogNodesE2e, AnOpeningWaitsForWhatItNeeds) {
  if (slow()) GTEST_SKIP() << "the lab has one node";
  start_logs(3);
  start();
  if (HasFailure()) return;
  Writer writer(channel, 1);
  write_until(writer, 10, [&] { kill_writer(); });
  for (const std::size_t i : {0, 1}) kill_node(i);
  start_node(1);  // holds no log: with node 0 away, one is too few to know what was acknowledged
  writer_options.insert(writer_options.end(), {"--attach-seconds", "2"});
  start_process();
  EXPECT_EQ(node->wait(kPatience), 1) << node->output();
  EXPECT_THAT(node->output(), HasSubstr("1 of 3 memory nodes hold the collection's log"));
  EXPECT_THAT(node->output(), HasSubstr("waited 2 s for collection"));
}

TEST_P(LogNodesE2e, NothingIsLostByKills) {
  const int count = kills(20, 6);
  start_logs(slow() ? 1 : 3);
  Writers writers;
  Random random(3);
  for (int n = 0; n < count; ++n) {
    // A node that was lost comes back with zeros, and is brought up.
    if (n % 5 == 4 && nodes.size() > 1) {
      kill_node(static_cast<std::size_t>(n / 5 % 3));
      start_node(static_cast<std::size_t>(n / 5 % 3));
    }
    start();
    if (HasFailure()) return;
    if (n == 0) follow();
    write_until(writers.next(channel), 1 + some(static_cast<int>(random.below(40))),
                [&] { kill_writer(); });
  }
  start();
  if (HasFailure()) return;
  writers.for_each([&](const Writer& writer) {
    expect_kept(writer);
    expect_seen(writer);
  });
  tell("writers of the log", count, openings);
}

TEST_P(LogNodesE2e, NothingIsMissedByAFollowersKills) {
  const int count = kills(6, 3);
  start_logs(slow() ? 1 : 3);
  start();
  if (HasFailure()) return;
  Random random(5);
  Writers writers;
  for (int n = 0; n <= count; ++n) {
    if (n % 3 == 2) {  // while it opens the collection
      start_follower();
      std::this_thread::sleep_for(std::chrono::milliseconds(random.below(300)));
      kill_follower();
    }
    follow();
    if (HasFailure()) return;
    writers.for_each([&](const Writer& writer) { expect_seen(writer); });
    Writer& writer = writers.next(channel);
    write_until(writer, 1 + some(static_cast<int>(random.below(40))), [&] {
      if (n < count) kill_follower();
      writer.stop = true;
    });
    EXPECT_TRUE(writer.asked.empty()) << node->output();
  }
  writers.for_each([&](const Writer& writer) { expect_seen(writer); });
  tell("followers of the log", count, followings);
}

TEST_P(LogNodesE2e, NothingIsLostByNodesKills) {
  if (slow()) GTEST_SKIP() << "the lab has one node: with it goes the log";
  const int count = kills(1, 0);
  if (count == 0) GTEST_SKIP() << "scripts/test.sh --long kills nodes over this tier";
  start_logs(3);
  start();
  if (HasFailure()) return;
  Random random(7);
  Writers writers;
  for (int n = 0; n < count; ++n) {
    const auto i = static_cast<std::size_t>(n % 3);
    Writer& writer = writers.next(channel);
    write_until(writer, 1 + static_cast<int>(random.below(40)), [&] {
      kill_node(i);
      const int at_death = writer.acknowledged;
      EXPECT_TRUE(comes([&] { return writer.acknowledged > at_death + 5; })) << node->output();
      writer.stop = true;
    });
    EXPECT_TRUE(writer.asked.empty()) << node->output();
    // The node is back with zeros, and is brought up when the log is opened the next time.
    start_node(i);
    kill_writer();
    start();
    if (HasFailure()) return;
    expect_kept(writer);
    // One that an opening had to go on without is back before the next one dies.
    ASSERT_TRUE(has_copies_of_log(3)) << node->output();
  }
  tell("nodes of the log and then the writer", count, openings);
}

INSTANTIATE_TEST_SUITE_P(Tiers, LogNodesE2e, testing::Values("shm", "fabric:tcp", "verbs"),
                         [](const auto& tier) {
                           return tier.param == "fabric:tcp" ? "fabric" : tier.param;
                         });

}  // namespace
}  // namespace farvec
