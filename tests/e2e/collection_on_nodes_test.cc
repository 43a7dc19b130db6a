// A collection that is followed from memory nodes alone: no follower is told of the writer's
// folder.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/e2e/collection_nodes_fixture.h"

namespace farvec {
namespace {

using testing::HasSubstr;
using tests::ChildProcess;
using tests::kPatience;
using tests::program;
using tests::Writer;
using tests::Writers;

class OnNodesE2e : public tests::NodesE2e {
 protected:
  void SetUp() override {
    NodesE2e::SetUp();
    followed = "nodes:set";
  }
};

TEST_P(OnNodesE2e, FollowersSeeEverythingAlsoWhenTheWriterIsDead) {
  start_nodes_and_writer(slow() ? 1 : 3);
  if (HasFailure()) return;
  Writer first(channel, 1);
  write_rows(first, calls(24));
  follow();
  if (HasFailure()) return;
  expect_seen(first);
  Writer second(channel, 2);
  write_until(second, calls(24), [&] { kill_writer(); });
  expect_seen(second);
  EXPECT_EQ(describe().follow_failure(), "");
  // With what the nodes have, and nobody who changes it.
  kill_follower();
  follow();
  if (HasFailure()) return;
  expect_seen(first);
  expect_seen(second);
  start();
  if (HasFailure()) return;
  expect_kept(first);
  expect_kept(second);
  Writer third(channel, 3);
  write_rows(third, calls(12));
  expect_seen(third);
  EXPECT_TRUE(comes([&] { return describe().follow_failure().empty(); }));
}

TEST_P(OnNodesE2e, NothingIsMissedByKills) {
  const int count = kills(4, 0);
  if (count == 0) GTEST_SKIP() << "scripts/test.sh --long kills over this tier";
  start_nodes_and_writer(slow() ? 1 : 3);
  if (HasFailure()) return;
  Random random(11);
  Writers writers;
  for (int n = 0; n < count; ++n) {
    if (n % 3 == 2) {  // while it follows, or has been, and while the next one opens the collection
      kill_follower();
      start_follower();
      std::this_thread::sleep_for(std::chrono::milliseconds(random.below(300)));
      kill_follower();
    }
    if (n % 2 == 0 || n % 3 == 2) follow();
    if (HasFailure()) return;
    write_until(writers.next(channel), 1 + calls(static_cast<int>(random.below(60))), [&] {
      if (n % 2 == 1) kill_follower();
      kill_writer();
    });
    if (nodes.size() > 1) {  // one that is started again has nothing, until the writer comes
      kill_node(static_cast<std::size_t>(n % 3));
      start_node(static_cast<std::size_t>(n % 3));
    }
    start();
    if (HasFailure()) return;
    // The log is in as many copies as it is to be: another node may go.
    EXPECT_TRUE(comes([&] { return stats().failure().empty(); })) << stats().failure();
  }
  if (count % 2 == 0) follow();
  if (HasFailure()) return;
  writers.for_each([&](const Writer& writer) {
    expect_kept(writer);
    expect_seen(writer);
  });
}

/// Of what is the same on every tier.
class MappedOnNodesE2e : public OnNodesE2e {};

TEST_P(MappedOnNodesE2e, WhatIsNotThereIsSaid) {
  start_nodes_and_writer(1);
  if (HasFailure()) return;
  Writer writer(channel, 1);
  write_rows(writer, 20);
  const auto refused = [&](const std::string& collection, std::vector<std::string> options) {
    std::vector<std::string> words{
        program("farvec-compute-node"),          "--collection",     collection, "--listen",
        "unix:" + (folder / "refused").string(), "--attach-seconds", "1"};
    words.insert(words.end(), options.begin(), options.end());
    ChildProcess process(words);
    EXPECT_NE(process.wait(kPatience), 0);
    return process.output();
  };
  std::vector<std::string> follow = follower_options;
  follow.push_back("--follow");
  EXPECT_THAT(refused("nodes:other", follow), HasSubstr("they have set"));
  EXPECT_THAT(refused("nodes:set", follower_options), HasSubstr("a writer names its folder"));
  EXPECT_THAT(refused("nodes:set", {"--follow"}), HasSubstr("--segment-nodes"));
}

TEST_P(MappedOnNodesE2e, CommandsReadItFromThere) {
  start_nodes_and_writer(2);
  if (HasFailure()) return;
  Writer writer(channel, 0);
  write_rows(writer, 40);
  kill_writer();
  std::filesystem::rename(folder / "set", folder / "elsewhere");
  const auto rows = rows_of(writer);
  const std::vector<std::string> asked = write_own_queries(rows);
  const auto on_nodes = [&](std::vector<std::string> options) {
    options.insert(options.end(), follower_options.begin(), follower_options.end());
    return options;
  };
  const std::string vectors = fmt::format("\"vectors\":{},", rows.size());
  const auto inspected = collection_command("inspect", "nodes:set", on_nodes({"--json"}));
  EXPECT_EQ(inspected.first, 0);
  EXPECT_THAT(inspected.second, HasSubstr(vectors));
  const auto watched =
      collection_command("follow", "nodes:", on_nodes({"--json", "--seconds", "0.1"}));
  EXPECT_EQ(watched.first, 0);
  EXPECT_THAT(watched.second, HasSubstr(vectors));
  const auto searched = collection_command("search", "nodes:set", on_nodes(asked));
  EXPECT_EQ(searched.first, 0);
  EXPECT_THAT(searched.second, HasSubstr("1.0000")) << "each row finds itself";
  const auto refused = [&](const std::string& collection, std::vector<std::string> options) {
    const auto [status, said] = collection_command("inspect", collection, std::move(options));
    EXPECT_EQ(status, 1) << said;
    return said;
  };
  EXPECT_THAT(refused("nodes:other", on_nodes({})), HasSubstr("they have set"));
  EXPECT_THAT(refused("nodes:set", {}), HasSubstr("--log-nodes and --segment-nodes"));
  EXPECT_THAT(refused("nodes:set", {"--log-tier", "shm"}), HasSubstr("--log-nodes"));
  kill_node(0);
  kill_node(1);
  EXPECT_THAT(refused("nodes:set", on_nodes({})), HasSubstr(node_address(1)));
}

INSTANTIATE_TEST_SUITE_P(Tiers, MappedOnNodesE2e, testing::Values("shm"));
INSTANTIATE_TEST_SUITE_P(Tiers, OnNodesE2e, testing::Values("shm", "fabric:tcp", "verbs"),
                         [](const auto& tier) {
                           return tier.param == "fabric:tcp" ? "fabric" : tier.param;
                         });

}  // namespace
}  // namespace farvec
