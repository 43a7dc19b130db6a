#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "layout/index/manifest.h"
#include "tests/unit/layout/cluster/random_clusters.h"
#include "tests/unit/layout/index/index_fixture.h"
#include "tests/unit/layout/pages/slotted_fixture.h"

namespace farvec::layout {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;
using testing::ElementsAre;
using testing::HasSubstr;

Manifest graph_manifest(LayoutKind layout) {
  const TemporaryFolder folder;
  return RandomIndex(100, layout).write(folder.path() / "index");
}

Manifest slotted_manifest() {
  const TemporaryFolder folder;
  return RandomSlottedIndex(100).write(folder.path() / "index");
}

Manifest cluster_manifest(ClusterLayoutKind layout, bool record_checksum = false) {
  const TemporaryFolder folder;
  return RandomClusters(100, 7).write(folder.path() / "index", layout, record_checksum);
}

std::vector<Manifest> manifests_of_every_layout() {
  std::vector<Manifest> all{slotted_manifest()};
  for (const LayoutKind layout : kRecordLayouts) all.push_back(graph_manifest(layout));
  for (const ClusterLayoutKind layout : kClusterLayouts) all.push_back(cluster_manifest(layout));
  return all;
}

std::vector<std::string> names_in(const ordered_json& object) {
  std::vector<std::string> names;
  for (const auto& [name, value] : object.items()) names.push_back(name);
  return names;
}

TEST(IndexDescriptions, OfEveryLayoutRoundTrip) {
  for (const Manifest& written : manifests_of_every_layout()) {
    const std::string text = manifest_to_json(written);
    const Manifest read = manifest_from_json(text, "m.json");
    EXPECT_EQ(manifest_to_json(read), text);
    EXPECT_EQ(read.kind(), written.kind());
    EXPECT_EQ(read.layout_name(), written.layout_name());
    EXPECT_EQ(read.is_slotted(), written.is_slotted());
  }
}

TEST(IndexDescriptions, SayWhatTheyAre) {
  const Manifest csr = graph_manifest(LayoutKind::csr);
  EXPECT_EQ(csr.kind(), IndexKind::graph);
  EXPECT_TRUE(csr.is_graph() && !csr.is_cluster() && !csr.is_slotted());
  EXPECT_EQ(csr.layout_name(), "csr");
  EXPECT_EQ(csr.graph().extension_bits(), 0u);

  const Manifest slotted = slotted_manifest();
  EXPECT_TRUE(slotted.is_graph() && !slotted.is_cluster() && slotted.is_slotted());
  EXPECT_EQ(slotted.layout_name(), "slotted");
  EXPECT_EQ(slotted.slotted_geometry().pages, slotted.slotted().pages);

  const Manifest clusters = cluster_manifest(ClusterLayoutKind::grouped_inline);
  EXPECT_EQ(clusters.kind(), IndexKind::cluster);
  EXPECT_TRUE(!clusters.is_graph() && clusters.is_cluster() && !clusters.is_slotted());
  EXPECT_EQ(clusters.layout_name(), "grouped-inline");
  EXPECT_FALSE(clusters.has_record_checksums());
  EXPECT_TRUE(cluster_manifest(ClusterLayoutKind::coupled, true).has_record_checksums());
}

TEST(IndexDescriptions, OfAnotherKindAreRefused) {
  Manifest manifest;
  EXPECT_DEATH((void)manifest.cluster(), "this index is a graph, not a cluster");
  EXPECT_DEATH((void)std::as_const(manifest).cluster(), "this index is a graph, not a cluster");
  EXPECT_DEATH((void)manifest.slotted(), "this graph is csr, not slotted");
  EXPECT_DEATH((void)manifest.slotted_geometry(), "this graph is csr, not slotted");
  manifest.description.emplace<ClusterDescription>();
  EXPECT_DEATH((void)manifest.graph(), "this index is a cluster, not a graph");
  EXPECT_DEATH((void)std::as_const(manifest).graph(), "this index is a cluster, not a graph");
  EXPECT_DEATH((void)manifest.slotted(), "this index is a cluster, not a graph");
  EXPECT_DEATH((void)manifest.graph_geometry(), "this index is a cluster, not a graph");
  EXPECT_DEATH((void)manifest.average_degree(), "this index is a cluster, not a graph");
}

TEST(IndexDescriptions, ALayoutWithoutItsDescriptionIsNotWritten) {
  Manifest manifest = slotted_manifest();
  manifest.graph().slotted.reset();
  EXPECT_DEATH((void)manifest_to_json(manifest), "slotted");
  manifest = graph_manifest(LayoutKind::csr);
  manifest.graph().slotted.emplace();
  EXPECT_DEATH((void)manifest_to_json(manifest), "slotted");
}

TEST(IndexDescriptions, HaveTheirSectionsInTheOrderOfTheFormat) {
  const auto graph = ordered_json::parse(manifest_to_json(slotted_manifest()));
  EXPECT_THAT(names_in(graph),
              ElementsAre("format", "format_version", "index", "metric", "stored_type",
                          "source_type", "normalised", "dimension", "count", "graph", "build",
                          "dataset", "built_by", "regions"));
  EXPECT_THAT(names_in(graph["graph"]),
              ElementsAre("layout", "record_checksum", "block_bytes", "max_degree", "edges",
                          "average_degree", "entry", "slotted"));
  EXPECT_THAT(names_in(graph["build"]),
              ElementsAre("degree", "list", "alpha", "passes", "seed", "code_bits"));
  const auto clusters =
      ordered_json::parse(manifest_to_json(cluster_manifest(ClusterLayoutKind::grouped)));
  EXPECT_THAT(names_in(clusters),
              ElementsAre("format", "format_version", "index", "metric", "stored_type",
                          "source_type", "normalised", "dimension", "count", "cluster", "build",
                          "dataset", "built_by", "regions"));
  EXPECT_THAT(names_in(clusters["cluster"]),
              ElementsAre("layout", "record_checksum", "clusters", "members", "address_bytes",
                          "block_bytes", "replication"));
  EXPECT_THAT(names_in(clusters["build"]),
              ElementsAre("replicas", "heads", "closure", "closure_ratio", "rng_factor", "balance",
                          "sample", "seed"));
}

TEST(IndexDescriptions, OfGraphsSayWhyTheyHaveTheirCodes) {
  Manifest manifest = graph_manifest(LayoutKind::csr);
  manifest.graph().build.code_bits = 0;
  manifest.graph().build.steering =
      SteeringFacts{.usual_bits = 2, .list = 40, .usual = 0.25, .codes = 0.99, .vectors = 0.995};
  const json written = json::parse(manifest_to_json(manifest));
  const BuildParameters read = manifest_from_json(written.dump(), "m.json").graph().build;
  EXPECT_EQ(read.code_bits, 0u);
  ASSERT_TRUE(read.steering);
  EXPECT_EQ(read.steering->usual_bits, 2u);
  EXPECT_EQ(read.steering->list, 40u);
  EXPECT_EQ(read.steering->usual, 0.25);
  EXPECT_EQ(read.steering->codes, 0.99);
  EXPECT_EQ(read.steering->vectors, 0.995);
  for (const char* field : {"recall_by_usual", "recall_by_codes", "recall_by_vectors"}) {
    json wrong = written;
    wrong["build"]["steering"][field] = 1.5;
    EXPECT_THAT(error_of([&] { (void)manifest_from_json(wrong.dump(), "m.json"); }),
                HasSubstr(field));
  }
}

/// Of indexes from before there was a choice they are not there.
constexpr const char* kOptionalOfClusters[] = {"heads", "closure", "rng_factor"};

TEST(IndexDescriptions, OfClustersSayWhatTheyAreMadeOf) {
  Manifest manifest = cluster_manifest(ClusterLayoutKind::grouped);
  manifest.cluster().build.heads = HeadKind::vectors;
  manifest.cluster().build.closure = ClosureRule::sptag;
  manifest.cluster().build.rng_factor = 1.25;
  json written = json::parse(manifest_to_json(manifest));
  const ClusterBuildParameters read = manifest_from_json(written.dump(), "m.json").cluster().build;
  EXPECT_EQ(read.heads, HeadKind::vectors);
  EXPECT_EQ(read.closure, ClosureRule::sptag);
  EXPECT_EQ(read.rng_factor, 1.25);
  for (const char* field : kOptionalOfClusters) {
    json wrong = written;
    wrong["build"][field] = json::array();
    EXPECT_THAT(error_of([&] { (void)manifest_from_json(wrong.dump(), "m.json"); }),
                HasSubstr(field));
  }
  for (const char* field : kOptionalOfClusters) written["build"].erase(field);
  const ClusterBuildParameters old = manifest_from_json(written.dump(), "m.json").cluster().build;
  EXPECT_EQ(old.heads, HeadKind::means);
  EXPECT_EQ(old.closure, ClosureRule::fitted);
  EXPECT_EQ(old.rng_factor, 2);
}

TEST(IndexDescriptions, RefuseEveryMissingFieldOfClusters) {
  json good = json::parse(manifest_to_json(cluster_manifest(ClusterLayoutKind::grouped)));
  for (const char* field : kOptionalOfClusters) good["build"].erase(field);
  for (const char* section : {"cluster", "build"}) {
    for (const auto& [name, value] : good[section].items()) {
      const std::string field = name;
      const auto refusal = [&](auto change) {
        json bad = good;
        change(bad[section]);
        return error_of([&] { (void)manifest_from_json(bad.dump(), "m.json"); });
      };
      EXPECT_THAT(
          refusal([&](json& fields) { fields.erase(field); }),
          HasSubstr("m.json: manifest." + std::string(section) + "." + field + " is missing"));
      EXPECT_THAT(refusal([&](json& fields) { fields[field] = nullptr; }), HasSubstr(field));
    }
  }
}

TEST(IndexDescriptions, OfAnInlineGraphSayHowManyBytesItsCodesTake) {
  const Manifest written = graph_manifest(LayoutKind::inlined);
  const json good = json::parse(manifest_to_json(written));
  EXPECT_EQ(good["graph"]["neighbor_code_bytes"], RandomGraph::kCodeBytes);
  EXPECT_EQ(written.graph_geometry().code_bytes, RandomGraph::kCodeBytes);
  const auto refusal = [&](const json& value) {
    json bad = good;
    bad["graph"]["neighbor_code_bytes"] = value;
    return error_of([&] { (void)manifest_from_json(bad.dump(), "m.json"); });
  };
  for (const json& wrong : {json(nullptr), json("x"), json(-1), json(1.5), json(0),
                            json(GraphGeometry::kMostCodeBytes + 1)}) {
    EXPECT_THAT(refusal(wrong), HasSubstr("m.json: manifest.graph.neighbor_code_bytes"));
  }
  EXPECT_THAT(refusal(RandomGraph::kCodeBytes + 64), HasSubstr("records.inline"));
  json missing = good;
  missing["graph"].erase("neighbor_code_bytes");
  EXPECT_THAT(error_of([&] { (void)manifest_from_json(missing.dump(), "m.json"); }),
              HasSubstr("manifest.graph.neighbor_code_bytes is missing"));
  EXPECT_FALSE(json::parse(manifest_to_json(graph_manifest(LayoutKind::csr)))["graph"].contains(
      "neighbor_code_bytes"));
}

TEST(IndexDescriptions, OfAPackedGraphSayHowManyBytesItsListsTake) {
  const Manifest written = graph_manifest(LayoutKind::packed);
  const json good = json::parse(manifest_to_json(written));
  EXPECT_EQ(good["graph"]["list_bytes"], written.graph().list_bytes);
  EXPECT_GT(written.graph().list_bytes, written.graph().edges);
  const auto refusal = [&](const json& value) {
    json bad = good;
    bad["graph"]["list_bytes"] = value;
    return error_of([&] { (void)manifest_from_json(bad.dump(), "m.json"); });
  };
  for (const json& wrong : {json(nullptr), json("x"), json(-1), json(written.count - 1),
                            json(written.count * OffsetTable::kMostLength + 1)}) {
    EXPECT_THAT(refusal(wrong), HasSubstr("m.json: manifest.graph.list_bytes"));
  }
  EXPECT_THAT(refusal(written.graph().list_bytes + 1), HasSubstr("records.packed"));
  EXPECT_FALSE(json::parse(manifest_to_json(graph_manifest(LayoutKind::csr)))["graph"].contains(
      "list_bytes"));
}

TEST(IndexDescriptions, DoNotPassForEachOther) {
  const json graph = json::parse(manifest_to_json(graph_manifest(LayoutKind::csr)));
  const json clusters = json::parse(manifest_to_json(cluster_manifest(ClusterLayoutKind::grouped)));
  const auto refusal = [](json bad, const char* index) {
    bad["index"] = index;
    return error_of([&] { (void)manifest_from_json(bad.dump(), "m.json"); });
  };
  EXPECT_THAT(refusal(graph, "cluster"), HasSubstr("m.json: manifest.cluster is missing"));
  EXPECT_THAT(refusal(clusters, "graph"), HasSubstr("m.json: manifest.graph is missing"));
  EXPECT_THAT(refusal(graph, "tree"), HasSubstr("index is 'tree', not 'graph' or 'cluster'"));
}

}  // namespace
}  // namespace farvec::layout
