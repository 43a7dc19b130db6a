#include "indexing/stored_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "indexing/cluster_recipe.h"
#include "indexing/slotted_recipe.h"
#include "layout/index/index_publisher.h"
#include "layout/index/region_file.h"
#include "tests/unit/indexing/graph_fixture.h"
#include "tests/unit/message_of.h"

namespace farvec::indexing {
namespace {

using layout::LayoutKind;
using testing::AllOf;
using testing::HasSubstr;

class StoredGraphTest : public GraphTest {
 protected:
  StoredGraph read(const std::string& name) const { return read_graph(open(name), kLoad); }
  std::string refusal(const std::string& name) const {
    return tests::message_of([&] { (void)read(name); });
  }
  /// Reads `from` and writes what it holds as `to`.
  void convert(const std::string& from, const std::string& to, const GraphRecipe& recipe) const {
    StoredGraph stored = read(from);
    const BuiltGraph built = std::move(stored).built();
    write_graph(path(to), built, recipe, kWrite);
  }
  using Change = std::function<void(const layout::IndexDirectory&, HugeBuffer&)>;

  /// Writes `from` again as `to`, its records changed, under checksums that hold.
  void write_changed(const std::string& from, const std::string& to, const Change& change) const {
    const layout::IndexDirectory directory = open(from);
    layout::Manifest manifest = directory.manifest();
    const auto rewrite = [&](const std::filesystem::path& partial) {
      std::vector<layout::RegionEntry> entries;
      for (std::uint32_t region = 0; region < layout::kRegionCount; ++region) {
        HugeBuffer bytes = directory.load_region(region, kLoad);
        if (region == layout::kRecordsRegion) change(directory, bytes);
        layout::RegionFile file(partial, directory.manifest().region(region).kind);
        file.append(bytes.span().subspan(layout::kRegionHeaderBytes));
        entries.push_back(file.publish());
      }
      return entries;
    };
    (void)layout::publish_index(path(to), std::move(manifest), false, 0, rewrite);
  }
  static void set_neighbor(const layout::IndexDirectory& directory, HugeBuffer& region, NodeId id) {
    constexpr NodeId kVertex = 7;
    const layout::GraphLocator locator = directory.load_locator(kLoad);
    layout::RecordReader records(locator, region.span());
    const NodeRecord record = records.read(kVertex);
    ASSERT_GT(record.degree, 1u);
    store_unaligned(region.data() + (record.neighbors - region.data()), id);
  }
  void expect_same_region(const std::string& a, const std::string& b, std::uint32_t region) const {
    const HugeBuffer bytes = open(a).load_region(region, kLoad);
    const HugeBuffer other = open(b).load_region(region, kLoad);
    ASSERT_EQ(bytes.size(), other.size());
    EXPECT_TRUE(same_bytes(bytes.data(), other.data(), bytes.size()))
        << a << " and " << b << " differ in region " << region;
  }
};

TEST_F(StoredGraphTest, IsTheGraphThatWasBuiltAndItsRows) {
  const BuiltGraph built = build();
  for (const LayoutKind kind : kGraphRecordLayouts) {
    for (const bool checksum : {false, true}) {
      const std::string name = std::string(to_string(kind)) + (checksum ? "-checksum" : "");
      write_graph(path(name), built, {.layout = kind, .code_bits = 1, .record_checksum = checksum},
                  kWrite);
      const StoredGraph stored = read(name);
      EXPECT_EQ(stored.graph.entry, built.graph.entry);
      EXPECT_TRUE(stored.manifest.regions.empty());
      EXPECT_EQ(stored.manifest.graph().build.seed, 5u);
      ASSERT_EQ(stored.rows.count(), kCount);
      for (NodeId id = 0; id < kCount; ++id) {
        expect_neighbors(stored.graph.neighbors(id), built.graph.neighbors(id),
                         kind == LayoutKind::packed);
        ASSERT_TRUE(same_bytes(stored.rows.view().row(id), rows().row(id), kDimension)) << id;
      }
    }
  }
}

TEST_F(StoredGraphTest, ThereAndBackGivesTheSameBytes) {
  const GraphRecipe csr{LayoutKind::csr, 2, false};
  const GraphRecipe inlined{LayoutKind::inlined, 1, true};
  const BuiltGraph built = build();
  write_graph(path("csr"), built, csr, kWrite);
  write_graph(path("inline"), built, inlined, kWrite);
  convert("csr", "inline-again", inlined);
  convert("inline-again", "padded", {LayoutKind::padded, 3, false});
  convert("padded", "csr-again", csr);
  const GraphRecipe packed{LayoutKind::packed, 2, true};
  write_graph(path("packed"), built, packed, kWrite);
  convert("csr", "packed-again", packed);
  for (const std::uint32_t region :
       {layout::kRecordsRegion, layout::kCodesRegion, layout::kOffsetsRegion}) {
    expect_same_region("inline", "inline-again", region);
    expect_same_region("csr", "csr-again", region);
    expect_same_region("packed", "packed-again", region);
  }
  EXPECT_EQ(manifest_to_json(open("csr").manifest()),
            manifest_to_json(open("csr-again").manifest()));
  EXPECT_EQ(open("padded").manifest().graph().neighbor_code_bytes, 0u);
  EXPECT_EQ(open("csr-again").manifest().graph().list_bytes, 0u);
}

TEST_F(StoredGraphTest, PagesHaveTheGraphAndTheRows) {
  const BuiltGraph built = build();
  for (const auto payload : {layout::PayloadKind::vector, layout::PayloadKind::code}) {
    const std::string name(to_string(payload));
    write_slotted(path(name), built, {.payload = payload}, kWrite);
    const StoredGraph stored = read(name);
    EXPECT_EQ(stored.graph.entry, built.graph.entry);
    EXPECT_TRUE(stored.manifest.regions.empty());
    EXPECT_FALSE(stored.manifest.is_slotted());
    ASSERT_EQ(stored.rows.count(), kCount);
    for (NodeId id = 0; id < kCount; ++id) {
      expect_neighbors(stored.graph.neighbors(id), built.graph.neighbors(id), true);
      ASSERT_TRUE(same_bytes(stored.rows.view().row(id), rows().row(id), kDimension)) << id;
    }
  }
  write_slotted(path("bare"), built, {.payload = layout::PayloadKind::code, .rerank = false},
                kWrite);
  EXPECT_THAT(refusal("bare"), HasSubstr("no vectors beside them"));
}

TEST_F(StoredGraphTest, ClustersAreRefused) {
  cluster::ClusteringOptions options;
  options.clusters = 20;
  options.quiet = true;
  write_clusters(path("clusters"), build_clusters(source(), options), {}, kWrite);
  EXPECT_THAT(refusal("clusters"), AllOf(HasSubstr("is no graph"), HasSubstr("grouped")));
}

TEST_F(StoredGraphTest, ANeighborThatDoesNotExistIsNamed) {
  const BuiltGraph built = build();
  for (const LayoutKind kind : {LayoutKind::csr, LayoutKind::padded, LayoutKind::inlined}) {
    const std::string name(to_string(kind));
    write_graph(path(name), built, {.layout = kind}, kWrite);
    for (const NodeId id : {static_cast<NodeId>(kCount), kInvalidNode}) {
      const std::string damaged = name + std::to_string(id);
      write_changed(name, damaged, [&](const auto& directory, HugeBuffer& region) {
        set_neighbor(directory, region, id);
      });
      EXPECT_THAT(refusal(damaged), HasSubstr("vertex 7 points to " + std::to_string(id)));
    }
  }
}

TEST_F(StoredGraphTest, ARowThatTwoVerticesClaimIsNamed) {
  write_graph(path("packed"), build(), {.layout = LayoutKind::packed}, kWrite);
  NodeId row = kInvalidNode;
  write_changed("packed", "damaged", [&](const auto& directory, HugeBuffer& region) {
    const layout::GraphLocator locator = directory.load_locator(kLoad);
    const auto place = [&](NodeId vertex) {
      const layout::Extent extent = locator.locate(vertex);
      return region.data() + extent.offset + extent.bytes - kDimension - sizeof(NodeId);
    };
    row = load_unaligned<NodeId>(place(7));
    store_unaligned(place(9), row);
  });
  EXPECT_THAT(refusal("damaged"),
              AllOf(HasSubstr("two vertices"), HasSubstr("row " + std::to_string(row))));
}

}  // namespace
}  // namespace farvec::indexing
