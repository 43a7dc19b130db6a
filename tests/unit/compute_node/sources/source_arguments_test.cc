#include "compute_node/sources/source_arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <variant>

#include "collection/write/collection.h"
#include "tests/unit/message_of.h"
#include "tests/unit/search/cluster_fixture.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::compute_node {
namespace {

using testing::HasSubstr;

/// Reads a command line of source flags, and of some that a whole daemon has.
struct Reading {
  explicit Reading(std::vector<std::string> words) : words_(std::move(words)) {
    words_.insert(words_.begin(), "farvec-compute-node");
  }

  Source read() {
    CommandLine app("test", "farvec-compute-node");
    SourceArguments arguments;
    arguments.add(app);
    app.add_option("--tls-cert", tls_);
    app.add_option("--max-list", limits.max_list);
    app.add_option("--max-probe", limits.max_probe);
    app.callback([&arguments] { arguments.require_one(); });
    std::vector<char*> pointers;
    for (std::string& word : words_) pointers.push_back(word.data());
    const auto status = app.parse(static_cast<int>(pointers.size()), pointers.data());
    if (status) throw Error("the command line ends with {}", *status);
    return arguments.read(app, limits);
  }

  RequestLimits limits;

 private:
  std::vector<std::string> words_;
  std::string tls_;
};

template <typename Kind>
Kind read_as(const std::vector<std::string>& words) {
  return std::get<Kind>(Reading(words).read());
}

std::string refusal(const std::vector<std::string>& words) {
  return tests::message_of([&words] { Reading(words).read(); });
}

std::string clusters() {
  return search::small_clusters().path(layout::ClusterLayoutKind::grouped).string();
}

TEST(SourceArguments, NeedExactlyOneSource) {
  EXPECT_EQ(refusal({}), "the command line ends with 2");
  EXPECT_EQ(refusal({"--memory-node", "a:1", "--index", "d"}), "the command line ends with 2");
  EXPECT_EQ(refusal({"--index", "d", "--collection", "c"}), "the command line ends with 2");
  EXPECT_EQ(refusal({"--memory-node", "a:1", "--collection", "c"}), "the command line ends with 2");
}

TEST(SourceArguments, ReadTheIndexOfMemoryNodes) {
  const auto source =
      read_as<MemoryNodeSource>({"--memory-node", "a:1,b:2", "--tier", "verbs", "--cache-bytes",
                                 "3MiB", "--node-timeout-ms", "70", "--partial"});
  EXPECT_EQ(source.nodes, "a:1,b:2");
  EXPECT_EQ(source.tier, "verbs");
  EXPECT_EQ(source.cache_bytes, 3u << 20);
  EXPECT_EQ(source.node_timeout, std::chrono::milliseconds(70));
  EXPECT_TRUE(source.partial);
  EXPECT_TRUE(source.regroup.index.empty());
  EXPECT_EQ(read_as<MemoryNodeSource>({"--memory-node", "a:1"}).tier, "shm");
}

TEST(SourceArguments, TellTheServiceWhatPartialAnswersAre) {
  Reading reading({"--memory-node", "a:1", "--partial"});
  reading.read();
  EXPECT_TRUE(reading.limits.default_partial);
}

TEST(SourceArguments, RefuseFlagsThatMemoryNodesDoNotTake) {
  EXPECT_THAT(refusal({"--memory-node", "a:1", "--cache-bytes", "1MB"}),
              HasSubstr("--cache-bytes is for tiers that are read"));
  EXPECT_THAT(refusal({"--memory-node", "a:1", "--memory-budget", "1MB"}),
              HasSubstr("--memory-budget is for --index with --tier ssd"));
  EXPECT_THAT(refusal({"--memory-node", "a:1", "--durability", "none"}),
              HasSubstr("--durability is for --paged, and --collection without --follow"));
  EXPECT_THAT(refusal({"--memory-node", "a:1", "--follow"}),
              HasSubstr("--follow is for --collection"));
  EXPECT_THAT(refusal({"--memory-node", "a:1", "--merge-threads", "2"}),
              HasSubstr("--merge-threads is for --collection without --follow"));
}

TEST(SourceArguments, ReadACollectionOfSlottedPages) {
  const tests::TemporaryFolder folder;
  layout::CollectionManifest shape;
  shape.dimension = 4;
  shape.options.layout = layout::LayoutKind::slotted;
  const std::string pages = (folder.path() / "pages").string();
  collection::Collection::create(pages, shape);
  Reading reading({"--collection", pages, "--memory-budget", "3MB", "--rerank", "20"});
  const auto source = std::get<ChangedSource>(reading.read());
  EXPECT_EQ(source.collection.tier, "ssd");
  EXPECT_EQ(source.collection.pages.value().memory_budget, "3MB");
  EXPECT_EQ(reading.limits.max_k, 20u);
  EXPECT_EQ(read_as<FollowedSource>({"--collection", pages, "--follow"}).collection.tier, "ssd");
  EXPECT_EQ(read_as<ChangedSource>({"--collection", pages, "--tier", "dram"}).collection.tier,
            "dram")
      << "it is refused when it is opened";
  shape.options.layout = layout::LayoutKind::csr;
  const std::string csr = (folder.path() / "csr").string();
  collection::Collection::create(csr, shape);
  EXPECT_FALSE(read_as<ChangedSource>({"--collection", csr}).collection.pages);
  EXPECT_THAT(refusal({"--collection", csr, "--memory-budget", "3MB"}),
              HasSubstr("--collection of slotted pages"));
}

TEST(SourceArguments, RegroupClustersOfOneMemoryNode) {
  const auto source = read_as<MemoryNodeSource>(
      {"--memory-node", "a:1", "--regroup", clusters(), "--regroup-gain", "0.5"});
  EXPECT_EQ(source.regroup.index, clusters());
  EXPECT_EQ(source.regroup.least_gain, 0.5);
  EXPECT_THAT(refusal({"--memory-node", "a:1,b:1", "--regroup", clusters()}),
              HasSubstr("placed over several memory nodes"));
  EXPECT_THAT(refusal({"--index", clusters(), "--regroup", clusters()}),
              HasSubstr("--regroup is for --memory-node"));
  EXPECT_THAT(refusal({"--memory-node", "a:1", "--regroup-gain", "0.5"}),
              HasSubstr("--regroup-gain is for --regroup"));
}

TEST(SourceArguments, ReadAnIndexDirectory) {
  const auto source = read_as<DirectorySource>({"--index", clusters()});
  EXPECT_EQ(source.path, clusters());
  EXPECT_EQ(source.tier, "dram");
  const auto disk = read_as<DirectorySource>(
      {"--index", clusters(), "--tier", "ssd", "--memory-budget", "100%", "--cache-bytes", "1MB"});
  EXPECT_EQ(disk.tier, "ssd");
  EXPECT_EQ(disk.cache_bytes, 1'000'000u);
}

TEST(SourceArguments, RefuseFlagsThatADirectoryDoesNotTake) {
  EXPECT_THAT(refusal({"--index", clusters(), "--max-list", "9"}),
              HasSubstr("--max-list is for graphs; '" + clusters() + "' is "));
  EXPECT_EQ(refusal({"--index", clusters(), "--max-probe", "9"}), "");
  EXPECT_THAT(refusal({"--index", clusters(), "--partial"}),
              HasSubstr("--partial is for --memory-node and --segment-nodes"));
  EXPECT_THAT(refusal({"--index", clusters(), "--memory-budget", "1MB"}),
              HasSubstr("--memory-budget is for --tier ssd; --tier is dram"));
  EXPECT_THAT(refusal({"--index", clusters(), "--pool", "page"}),
              HasSubstr("--pool is for --tier ssd; --tier is dram"));
  EXPECT_THAT(refusal({"--index", clusters(), "--tier", "ssd", "--pool", "page"}),
              HasSubstr("--pool is for slotted pages; '" + clusters() + "' is grouped"));
}

TEST(SourceArguments, ReadACollectionThatIsChanged) {
  const auto source = read_as<ChangedSource>(
      {"--collection", "set", "--durability", "none", "--change-threads", "3", "--change-queue",
       "5", "--merge-threads", "2", "--tls-cert", "c", "--changer", "me"});
  EXPECT_EQ(source.collection.name, "set");
  EXPECT_EQ(source.collection.tier, "dram");
  EXPECT_EQ(source.durability, "none");
  EXPECT_EQ(source.changes.threads, 3u);
  EXPECT_EQ(source.changes.calls, 5u);
  EXPECT_EQ(source.changes.changers, std::vector<std::string>{"me"});
  EXPECT_EQ(source.background.merge_threads, 2u);
  const Source all = source;
  ASSERT_NE(changes_of(all), nullptr);
  EXPECT_EQ(changes_of(all)->calls, 5u);
}

TEST(SourceArguments, RefuseChangesThatCannotBe) {
  EXPECT_THAT(refusal({"--collection", "set", "--durability", "soon"}), HasSubstr("'soon'"));
  EXPECT_THAT(refusal({"--collection", "set", "--change-bytes", "10"}),
              HasSubstr("--change-bytes 10: use at least"));
  EXPECT_THAT(refusal({"--collection", "set", "--changer", "me"}), HasSubstr("over TLS"));
  EXPECT_THAT(refusal({"--collection", "set", "--cache-bytes", "1MB"}),
              HasSubstr("--cache-bytes is for --index and --memory-node"));
  EXPECT_THAT(refusal({"--collection", "set", "--log-copies", "2"}),
              HasSubstr("--log-copies is for --log-nodes without --follow"));
  EXPECT_THAT(refusal({"--collection", "set", "--segment-tier", "shm"}),
              HasSubstr("--segment-tier is for --segment-nodes"));
  EXPECT_THAT(refusal({"--collection", "nodes:set"}), HasSubstr("a writer names its folder"));
}

TEST(SourceArguments, ReadACollectionThatIsFollowed) {
  const Source source = Reading({"--collection", "nodes:set", "--follow", "--log-nodes", "a:1",
                                 "--segment-nodes", "b:1", "--node-timeout-ms", "60"})
                            .read();
  const SearchedCollection& followed = std::get<FollowedSource>(source).collection;
  EXPECT_EQ(followed.name, "nodes:set");
  EXPECT_EQ(followed.nodes.log, "a:1");
  EXPECT_EQ(followed.nodes.segments, "b:1");
  EXPECT_EQ(followed.node_timeout, std::chrono::milliseconds(60));
  EXPECT_EQ(changes_of(source), nullptr);
}

TEST(SourceArguments, RefuseFlagsThatAFollowedCollectionDoesNotTake) {
  for (const char* option : {"--change-threads", "--build-threads"}) {
    const std::string said = refusal({"--collection", "set", "--follow", option, "2"});
    EXPECT_THAT(said, HasSubstr(std::string(option) + " is for --"));
    EXPECT_THAT(said, HasSubstr("--collection without --follow"));
  }
  EXPECT_THAT(
      refusal({"--collection", "set", "--follow", "--segment-nodes", "b:1", "--tier", "dram"}),
      HasSubstr("--tier is for sources other than --segment-nodes"));
  EXPECT_THAT(refusal({"--collection", "set", "--follow", "--node-timeout-ms", "60"}),
              HasSubstr("--node-timeout-ms is for --memory-node and --segment-nodes"));
}

TEST(SourceArguments, AGraphOnPagesTakesWhatItsChangesAndReadsNeed) {
  EXPECT_THAT(refusal({"--collection", "set", "--buffer", "10%"}),
              HasSubstr("--buffer is for --paged"));
  EXPECT_THAT(refusal({"--paged", "set", "--max-probe", "2"}),
              HasSubstr("--max-probe is for sources other than --paged"));
  EXPECT_THAT(refusal({"--paged", "set", "--tier", "ssd"}), HasSubstr("--tier is for"));
  EXPECT_THAT(refusal({"--paged", "nowhere"}), HasSubstr("'nowhere' is no HNSW graph on pages"));
}

}  // namespace
}  // namespace farvec::compute_node
