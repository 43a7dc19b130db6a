#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/input_file.h"
#include "layout/index/region_file.h"
#include "layout/index/slotted_report.h"
#include "tests/unit/layout/pages/slotted_fixture.h"

namespace farvec::layout {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

class SlottedIndexTest : public testing::Test {
 protected:
  std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()));
  }
  /// Changes one byte of a region's file, and the manifest so that its checksums hold.
  void forge(std::uint32_t region, std::uint64_t offset, std::byte value) {
    const IndexDirectory index = IndexDirectory::open(directory_);
    const std::string path = index.region_path(region).string();
    std::vector<std::byte> bytes(index.manifest().region(region).payload_bytes);
    InputFile(path).read_at(kRegionHeaderBytes, bytes.data(), bytes.size());
    bytes[offset] = value;
    Manifest manifest = index.manifest();
    const RegionKind kind = manifest.region(region).kind;
    fs::remove(path);
    RegionFile file(directory_, kind);
    file.append(bytes);
    manifest.regions[region] = file.publish();
    std::ofstream(directory_ / kManifestFile) << manifest_to_json(manifest);
  }

  TemporaryFolder folder_;
  fs::path directory_ = folder_.path() / "index";
};

TEST_F(SlottedIndexTest, IsWrittenAndReadBack) {
  const RandomSlottedIndex random;
  const Manifest written = random.write(directory_);
  const IndexDirectory index = IndexDirectory::open(directory_);
  EXPECT_EQ(manifest_to_json(index.manifest()), manifest_to_json(written));
  EXPECT_EQ(index.manifest().slotted().pages, random.pages().geometry().pages);
  EXPECT_EQ(index.manifest().regions.size(), 5u);
  index.verify({.threads = 2, .quiet = true});

  const std::vector<std::byte> expected = random.pages().encode();
  const HugeBuffer region = index.load_region(kRecordsRegion, {.threads = 1, .quiet = true});
  ASSERT_EQ(region.size(), kRegionHeaderBytes + expected.size());
  EXPECT_EQ(std::memcmp(region.data() + kRegionHeaderBytes, expected.data(), expected.size()), 0);

  PageMap map = index.load_page_map({.threads = 1, .quiet = true});
  const auto pages = pages_of(random.pages().plan(), random.pages().costs());
  EXPECT_TRUE(std::equal(pages.begin(), pages.end(), map.entries().begin(), map.entries().end()));
  map.entries()[3] = PageMap::kResidentBit | 17;
  EXPECT_EQ(map.page_of(3), 0x80000011u);

  const EntryGraph entries = index.load_entry_graph({.threads = 1, .quiet = true});
  const SampledGraphView view = entries.view();
  const SampledGraphView stored = random.entries();
  EXPECT_TRUE(std::equal(view.ids.begin(), view.ids.end(), stored.ids.begin(), stored.ids.end()));
  EXPECT_EQ(view.graph.entry, 498u);
  ASSERT_EQ(view.graph.count, 250u);
  for (std::size_t v = 0; v < 250; ++v) {
    ASSERT_EQ(view.graph.degrees[v], 1u);
    EXPECT_EQ(view.graph.row(v)[0], stored.graph.row(v)[0]);
  }

  const HugeBuffer vectors = index.load_region(kVectorsRegion, {.threads = 1, .quiet = true});
  EXPECT_EQ(std::memcmp(vectors.data() + kRegionHeaderBytes, random.pages().graph().vectors().data,
                        500 * 37),
            0);
}

TEST_F(SlottedIndexTest, HasNoVectorsUnlessAsked) {
  RandomSlottedIndex random;
  random.manifest().slotted().rerank = false;
  random.write(directory_);
  EXPECT_EQ(IndexDirectory::open(directory_).manifest().regions.size(), 4u);
  EXPECT_FALSE(fs::exists(directory_ / "vectors.bin"));
}

TEST_F(SlottedIndexTest, OneVertex) {
  RandomSlottedIndex(1).write(directory_);
  const IndexDirectory index = IndexDirectory::open(directory_);
  index.verify({.threads = 1, .quiet = true});
  const SlottedReport report = slotted_report(index, {.threads = 1, .quiet = true});
  EXPECT_EQ(report.pages, 1u);
  EXPECT_EQ(report.overlap, 0);
}

TEST_F(SlottedIndexTest, ReportAddsUp) {
  const RandomSlottedIndex random(3000);
  const Manifest manifest = random.write(directory_);
  const IndexDirectory index = IndexDirectory::open(directory_);
  const SlottedReport report = slotted_report(index, {.threads = 2, .quiet = true});
  EXPECT_EQ(report.bytes(), manifest.region(kRecordsRegion).payload_bytes);
  EXPECT_EQ(report.records, 3000u);
  EXPECT_EQ(report.payload_bytes, 3000u * 37);
  EXPECT_EQ(report.slot_bytes, 3000u * 9);
  std::uint64_t neighbors = 0;
  for (NodeId id = 0; id < 3000; ++id) {
    neighbors += random.pages().costs().bytes[id] - 9u - 37u;
  }
  EXPECT_EQ(report.neighbor_bytes, neighbors);
  EXPECT_EQ(report.colored, 1000u);
  EXPECT_GT(report.utilisation(), 0.95);
  EXPECT_LE(report.least_records, report.most_records);
  EXPECT_EQ(report.degree.least, 0u);
  EXPECT_EQ(report.degree.most, 12u);
  EXPECT_DOUBLE_EQ(report.overlap,
                   page_overlap(random.pages().plan(), random.pages().graph().view()));
  EXPECT_EQ(slotted_report(index, {.threads = 1, .quiet = true}).overlap, report.overlap);
}

TEST_F(SlottedIndexTest, CostCountsEveryRegion) {
  const Manifest manifest = RandomSlottedIndex().write(directory_);
  const LayoutCost cost = layout_cost(manifest, LayoutKind::slotted);
  std::uint64_t bytes = 0;
  for (const RegionEntry& region : manifest.regions) bytes += region.file_bytes();
  EXPECT_EQ(cost.total_bytes(), bytes);
  EXPECT_GT(layout_cost(manifest, LayoutKind::padded).records_bytes, 500u * 37);
}

TEST_F(SlottedIndexTest, NobodyElseReadsIt) {
  const Manifest manifest = RandomSlottedIndex().write(directory_);
  const IndexDirectory index = IndexDirectory::open(directory_);
  EXPECT_THAT(error_of([&] { (void)index.load_locator({.quiet = true}); }),
              HasSubstr("layout slotted is searched with --tier ssd"));
  EXPECT_THAT(error_of([&] { GraphLocator locator(manifest.graph_geometry()); }),
              HasSubstr("layout slotted is searched with --tier ssd"));
  EXPECT_THAT(
      error_of([&] { write_placement(directory_, [](const auto&) { return std::nullopt; }); }),
      HasSubstr("layout slotted is searched with --tier ssd"));
}

TEST_F(SlottedIndexTest, VerifyNoticesAChangedPage) {
  RandomSlottedIndex().write(directory_);
  {
    std::fstream file(directory_ / "records.slotted",
                      std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(kRegionHeaderBytes + 4096 + 100);
    file.put('\x55');
  }
  const IndexDirectory index = IndexDirectory::open(directory_);
  EXPECT_THROW(index.verify({.threads = 1, .quiet = true}), Error);
  EXPECT_THAT(error_of([&] { slotted_report(index, {.threads = 2, .quiet = true}); }),
              AllOf(HasSubstr("records.slotted"), HasSubstr("page 1"), HasSubstr("checksum")));
}

TEST_F(SlottedIndexTest, VerifyNoticesAMapThatLies) {
  const RandomSlottedIndex random;
  random.write(directory_);
  const auto pages = pages_of(random.pages().plan(), random.pages().costs());
  forge(kPagesRegion, 4 * 7, static_cast<std::byte>(pages[7] == 0 ? 1 : 0));
  const IndexDirectory index = IndexDirectory::open(directory_);
  EXPECT_THAT(error_of([&] { index.verify({.threads = 2, .quiet = true}); }),
              HasSubstr("the map says that vertex 7"));
  forge(kPagesRegion, 4 * 7 + 3, std::byte{0x10});
  EXPECT_THAT(error_of([&] {
                (void)IndexDirectory::open(directory_).load_page_map({.threads = 1, .quiet = true});
              }),
              HasSubstr("the page map names page"));
}

TEST_F(SlottedIndexTest, AGraphOfEntriesThatLiesIsRefused) {
  RandomSlottedIndex().write(directory_);
  const auto load = [&] {
    (void)IndexDirectory::open(directory_).load_entry_graph({.threads = 1, .quiet = true});
  };
  const auto lie = [&](std::uint64_t offset, std::byte value, std::byte truth) {
    forge(kEntriesRegion, offset, value);
    EXPECT_THAT(error_of(load), AllOf(HasSubstr("entries.bin"), HasSubstr("names vertices")));
    EXPECT_THROW(IndexDirectory::open(directory_).verify({.threads = 1, .quiet = true}), Error);
    forge(kEntriesRegion, offset, truth);
    EXPECT_NO_THROW(load());
  };
  lie(4 * 3, std::byte{4}, std::byte{6});                  // an id twice
  lie(4 * 249 + 2, std::byte{1}, std::byte{0});            // an id beyond the index
  lie(4 * 250, std::byte{2}, std::byte{1});                // a row longer than all rows
  lie(4 * (250 + 250 + 7), std::byte{17}, std::byte{16});  // a neighbour without a row
}

TEST_F(SlottedIndexTest, ManifestRefusesMissingFieldsAndContradictions) {
  const json good = json::parse(manifest_to_json(RandomSlottedIndex(100).write(directory_)));
  const auto refusal = [&](const std::function<void(json&)>& change) {
    json bad = good;
    change(bad);
    return error_of([&] { (void)manifest_from_json(bad.dump(), "m.json"); });
  };
  for (const auto& [name, value] : good["graph"]["slotted"].items()) {
    const std::string field = name;
    EXPECT_THAT(refusal([&](json& m) { m["graph"]["slotted"].erase(field); }), HasSubstr(field));
    EXPECT_THAT(refusal([&](json& m) { m["graph"]["slotted"][field] = nullptr; }),
                HasSubstr(field));
  }
  const auto with = [&](const char* field, json value) {
    return refusal([&](json& m) { m["graph"]["slotted"][field] = value; });
  };
  EXPECT_THAT(with("payload", "words"), HasSubstr("code or vector"));
  EXPECT_THAT(with("payload", "code"), HasSubstr("extension_bits"));
  EXPECT_THAT(with("payload_bytes", 38), HasSubstr("not those of a vector"));
  EXPECT_THAT(with("pages", good["graph"]["slotted"]["pages"].get<int>() + 1),
              HasSubstr("payload bytes"));
  EXPECT_THAT(with("affine_pairs_together", 11), HasSubstr("affine_pairs_together"));
  EXPECT_THAT(with("rerank", false), HasSubstr("entries"));
  const auto with_entries = [&](const char* field, int value) {
    return refusal([&](json& m) { m["graph"]["slotted"]["entries"][field] = value; });
  };
  EXPECT_THAT(with_entries("vertices", 0), HasSubstr("vertices"));
  EXPECT_THAT(with_entries("vertices", 101), HasSubstr("vertices"));
  EXPECT_THAT(with_entries("vertices", 49), HasSubstr("payload bytes"));
  EXPECT_THAT(with_entries("degree", 65), HasSubstr("degree"));
  EXPECT_THAT(with_entries("entry", 100), HasSubstr("entry"));
  EXPECT_THAT(refusal([](json& m) { m["graph"]["record_checksum"] = true; }),
              HasSubstr("their own checksums"));
  EXPECT_THAT(refusal([](json& m) { m["graph"]["block_bytes"] = 2048; }), HasSubstr("page_bytes"));
  EXPECT_THAT(refusal([](json& m) { m["regions"].erase(3); }), HasSubstr("entries"));
  EXPECT_THAT(refusal([](json& m) { m["placement"] = json::object(); }),
              HasSubstr("layout slotted is searched with --tier ssd"));
}

TEST_F(SlottedIndexTest, KeepsTheOldIndexWhenTheDiskFillsUp) {
  RandomSlottedIndex(100).write(directory_);
  const RandomSlottedIndex index(5000);
  for (const rlim_t limit : {rlim_t{0}, rlim_t{5000}, rlim_t{150'000}}) {
    std::string error;
    {
      const FileSizeLimit full(limit);
      error = error_of([&] { index.write(directory_, true); });
    }
    EXPECT_THAT(error,
                AllOf(HasSubstr("needs"), HasSubstr("free"), HasSubstr(directory_.string())));
    EXPECT_EQ(IndexDirectory::open(directory_).manifest().count, 100u);
    EXPECT_EQ(entries(), 1u);
  }
}

}  // namespace
}  // namespace farvec::layout
