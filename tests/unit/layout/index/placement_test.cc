#include "layout/index/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/unit/layout/index/index_fixture.h"

namespace farvec::layout {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

/// An index on disk with a placement in its manifest.
class PlacedIndex {
 public:
  PlacedIndex(const PlacementOptions& options, LayoutKind layout = LayoutKind::csr) {
    RandomIndex(2000, layout).write(folder_.path() / "index");
    const auto whole = IndexDirectory::open(folder_.path() / "index");
    Manifest manifest = whole.manifest();
    manifest.placement =
        make_placement(whole.load_locator(kQuiet), manifest.region_bytes(), options);
    std::ofstream(folder_.path() / "index" / kManifestFile) << manifest_to_json(manifest);
  }
  IndexDirectory open() const { return IndexDirectory::open(folder_.path() / "index"); }

  static inline const LoadOptions kQuiet{.threads = 2, .quiet = true};

 private:
  TemporaryFolder folder_;
};

TEST(Placement, EveryByteOfEveryRegionIsWhereTheExtentSays) {
  for (const LayoutKind layout : kRecordLayouts) {
    const PlacedIndex placed({.nodes = 3, .replicas = 2, .extent_bytes = 8192}, layout);
    const auto index = placed.open();
    ASSERT_EQ(index.manifest().memory_nodes(), 3u);
    for (std::uint32_t region = 0; region < kRegionCount; ++region) {
      const HugeBuffer whole = index.load_region(region, PlacedIndex::kQuiet);
      const RegionPlacement& placement = index.manifest().placement->regions[region];
      std::vector<HugeBuffer> nodes;
      for (std::uint32_t node = 0; node < 3; ++node) {
        nodes.emplace_back(index.manifest().node_bytes(node, region));
        index.load_share(region, node, nodes.back().span(), PlacedIndex::kQuiet);
        EXPECT_EQ(std::memcmp(nodes[node].data(), whole.data(), kRegionHeaderBytes), 0);
      }
      for (std::uint64_t offset = 0; offset < whole.size(); offset += 37) {
        const std::uint32_t e = placement.find(offset);
        const PlacedExtent& extent = placement.extents()[e];
        ASSERT_LE(extent.begin, offset);
        ASSERT_GT(placement.end_of(e), offset);
        ASSERT_EQ(extent.copy_count, 2u);
        for (std::uint32_t c = 0; c < extent.copy_count; ++c) {
          const ExtentCopy& copy = extent.copies[c];
          ASSERT_EQ(nodes[copy.node].data()[copy.offset + offset - extent.begin],
                    whole.data()[offset])
              << region << " " << offset;
        }
      }
    }
  }
}

TEST(Placement, NoRecordCrossesAnExtent) {
  for (const LayoutKind layout : kRecordLayouts) {
    const PlacedIndex placed({.nodes = 4, .replicas = 1, .extent_bytes = 4096}, layout);
    const auto index = placed.open();
    const GraphLocator locator = index.load_locator(PlacedIndex::kQuiet);
    const RegionPlacement& records = index.manifest().placement->regions[kRecordsRegion];
    EXPECT_GT(records.extents().size(), 8u);
    EXPECT_NO_THROW(check_records(*index.manifest().placement, locator));
    for (NodeId id = 0; id < locator.geometry().count; ++id) {
      const Extent record = locator.locate(id);
      EXPECT_EQ(records.find(record.offset), records.find(record.offset + record.bytes - 1));
    }
  }
}

TEST(Placement, CopiesOfALostNodeLieOnAllOthers) {
  const PlacedIndex placed({.nodes = 4, .replicas = 2, .extent_bytes = 4096});
  const auto index = placed.open();
  std::set<std::uint32_t> heirs;
  std::uint64_t bytes = 0;
  for (const PlacedExtent& extent : index.manifest().placement->regions[kRecordsRegion].extents()) {
    if (extent.copies[0].node == 1) heirs.insert(extent.copies[1].node);
    EXPECT_NE(extent.copies[0].node, extent.copies[1].node);
  }
  EXPECT_EQ(heirs, (std::set<std::uint32_t>{0, 2, 3}));
  for (std::uint32_t node = 0; node < 4; ++node) bytes += index.manifest().node_bytes(node);
  EXPECT_GE(bytes, 2 * index.manifest().region(kRecordsRegion).payload_bytes);
}

TEST(Placement, FullCopiesAreOneExtentOnEveryNode) {
  for (std::uint32_t nodes = 1; nodes <= PlacedExtent::kMaxCopies; ++nodes) {
    const Placement placement =
        full_copies(std::array<std::uint64_t, 4>{10'000, kRegionHeaderBytes, 5'000, 72}, nodes);
    ASSERT_EQ(placement.regions.size(), std::size_t{kRegionCount} + 1);
    EXPECT_EQ(placement.regions.back().region_bytes(), kRegionHeaderBytes) << "at least a header";
    EXPECT_EQ(placement.nodes, nodes);
    const RegionPlacement& records = placement.regions[kRecordsRegion];
    ASSERT_EQ(records.extents().size(), 1u);
    EXPECT_EQ(records.find(9'999), 0u);
    EXPECT_EQ(records.end_of(0), 10'000u);
    for (std::uint32_t node = 0; node < nodes; ++node) {
      EXPECT_EQ(records.extents()[0].copies[node].node, node);
      EXPECT_EQ(placement.node_bytes(node), 15'000 + 2 * kRegionHeaderBytes);
    }
  }
}

TEST(Placement, ChoosesExtentsThatGiveEveryNodeSome) {
  const PlacedIndex placed({.nodes = 2, .replicas = 2});
  const auto index = placed.open();
  EXPECT_GE(index.manifest().placement->regions[kRecordsRegion].extents().size(), 2u);
}

TEST(Placement, RefusesOptionsThatContradictEachOther) {
  const auto refusal = [](const PlacementOptions& options) {
    return error_of([&] { PlacedIndex index(options); });
  };
  EXPECT_THAT(refusal({.nodes = 2, .replicas = 3}),
              HasSubstr("3 copies of an extent need as many memory nodes"));
  EXPECT_THAT(refusal({.nodes = 1}), HasSubstr("2 to 1024 memory nodes"));
  EXPECT_THAT(refusal({.nodes = 8, .replicas = 5}), HasSubstr("1 to 4 copies"));
  EXPECT_THAT(refusal({.nodes = 2, .extent_bytes = 16}), HasSubstr("too small"));
  EXPECT_THAT(refusal({.nodes = 1024, .extent_bytes = 1 << 20}), HasSubstr("too few for 1024"));
}

TEST(Placement, RefusesADamagedSection) {
  const PlacedIndex placed({.nodes = 3, .replicas = 2, .extent_bytes = 8192});
  const json good = json::parse(manifest_to_json(placed.open().manifest()));
  const auto refusal = [&](const std::function<void(json&)>& change) {
    json bad = good;
    change(bad["placement"]);
    return error_of([&] { (void)manifest_from_json(bad.dump(), "m.json"); });
  };
  const auto extent = [](json& placement, int region, int number) -> json& {
    return placement["regions"][region]["extents"][number];
  };
  EXPECT_NO_THROW((void)manifest_from_json(good.dump(), "m.json"));
  EXPECT_THAT(refusal([](json& p) { p["nodes"] = 1; }), HasSubstr("placement.nodes"));
  EXPECT_THAT(refusal([](json& p) { p["regions"].erase(1); }), HasSubstr("3 entries"));
  EXPECT_THAT(refusal([&](json& p) {
                extent(p, 0, 1)["copies"][1]["node"] = extent(p, 0, 1)["copies"][0]["node"];
              }),
              AllOf(HasSubstr("regions[0]"), HasSubstr("extent 1 has two copies on node")));
  EXPECT_THAT(refusal([&](json& p) { extent(p, 0, 1)["copies"][1]["node"] = 3; }),
              HasSubstr("outside [0, 2]"));
  EXPECT_THAT(refusal([&](json& p) { extent(p, 0, 0)["begin"] = 8; }),
              HasSubstr("does not begin at 0"));
  EXPECT_THAT(refusal([&](json& p) { extent(p, 0, 2)["begin"] = 9000; }),
              AllOf(HasSubstr("extent"), HasSubstr("regions[0]")));
  EXPECT_THAT(refusal([&](json& p) { extent(p, 1, 1)["copies"][0]["offset"] = 1; }),
              HasSubstr("lies at 1 on node"));
  EXPECT_THAT(refusal([&](json& p) { extent(p, 1, 0)["copies"] = json::array(); }),
              HasSubstr("copies"));
  EXPECT_THAT(refusal([&](json& p) { p["regions"][2]["extents"] = json::array(); }),
              HasSubstr("does not begin at 0"));
}

TEST(Placement, FindsARecordThatIsCut) {
  const PlacedIndex placed({.nodes = 2, .extent_bytes = 8192});
  const auto index = placed.open();
  const RegionPlacement& records = index.manifest().placement->regions[kRecordsRegion];
  std::vector<PlacedExtent> extents = {records.extents()[0], records.extents()[1]};
  extents[1].begin += 4;
  extents[1].copies[0].offset = kRegionHeaderBytes;
  Placement cut;
  cut.regions.emplace_back(extents, records.region_bytes(), 2, "test");
  EXPECT_THAT(error_of([&] { check_records(cut, index.load_locator(PlacedIndex::kQuiet)); }),
              HasSubstr("cuts in two what one read brings"));
}

TEST(Placement, AShareOfADamagedFileIsRefused) {
  const PlacedIndex placed({.nodes = 2, .extent_bytes = 8192});
  const auto index = placed.open();
  {
    std::fstream file(index.region_path(kRecordsRegion),
                      std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(kRegionHeaderBytes + 100);
    file.put('\x5a');
    file.put('\x5b');
  }
  HugeBuffer share(index.manifest().node_bytes(1, kRecordsRegion));
  EXPECT_THAT(
      error_of([&] { index.load_share(kRecordsRegion, 1, share.span(), PlacedIndex::kQuiet); }),
      HasSubstr("is damaged"));
}

}  // namespace
}  // namespace farvec::layout
