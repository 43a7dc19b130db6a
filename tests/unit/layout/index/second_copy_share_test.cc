// What each memory node of a placement has of a second copy of vectors.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>
#include <vector>

#include "base/random.h"
#include "layout/index/placement.h"
#include "layout/index/second_copy.h"
#include "tests/unit/message_of.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::layout {
namespace {

constexpr std::uint32_t kElements = 13;
constexpr std::uint64_t kVectors = 1000;

class SecondCopyShare : public testing::Test {
 protected:
  SecondCopyShare() {
    Random random(7);
    for (float& value : values_) value = static_cast<float>(random.normal());
    manifest_.metric = Metric::hamming;
    manifest_.stored_type = manifest_.source_type = ElementType::b1;
    manifest_.dimension = kElements;
    manifest_.count = kVectors;
    manifest_.dataset.xxh3 = 77;
    facts_.metric = Metric::l2;
    facts_.parameters.assign(kElements, 0.0f);
    manifest_.second_copy = second_copy_entry(facts_, manifest_);
    write_second_copy(folder_.path(), manifest_, facts_,
                      packed_view(values_.data(), kVectors, kElements, ElementType::f32));
    std::ifstream file(path(), std::ios::binary);
    whole_.resize(std::filesystem::file_size(path()));
    file.read(reinterpret_cast<char*>(whole_.data()), static_cast<std::streamsize>(whole_.size()));
  }

  std::filesystem::path path() const { return folder_.path() / kSecondCopyFile; }
  RegionPlacement placed(const PlacementOptions& options) const {
    const SecondCopyGeometry rows = second_copy_geometry(manifest_);
    return place_rows(rows.offset_of(0), rows.row_bytes(), rows.file_bytes(), options);
  }

  tests::TemporaryFolder folder_;
  std::vector<float> values_ = std::vector<float>(kVectors * kElements);
  Manifest manifest_;
  SecondCopyFacts facts_;
  std::vector<std::byte> whole_;
};

TEST_F(SecondCopyShare, TheFileIsAsLongAsTheManifestSays) {
  EXPECT_EQ(whole_.size(), second_copy_geometry(manifest_).file_bytes());
  EXPECT_EQ(whole_.size(), 2 * kSecondCopyBlock + kVectors * 56);  // 13 floats and a checksum
}

TEST_F(SecondCopyShare, TheSharesOfAllNodesHaveEveryByte) {
  const SecondCopyFile file(folder_.path(), manifest_);
  for (const std::uint32_t nodes : {2u, 3u, 7u}) {
    for (const std::uint32_t replicas : {1u, 2u}) {
      for (const std::uint64_t extent_bytes : {std::uint64_t{0}, std::uint64_t{1000}}) {
        const RegionPlacement placement = placed({nodes, replicas, extent_bytes});
        std::vector<std::vector<std::byte>> shares;
        for (std::uint32_t node = 0; node < nodes; ++node) {
          std::vector<std::byte>& share = shares.emplace_back(placement.node_bytes(node));
          std::atomic<std::uint64_t> told{0};
          file.load_share(placement, node, share,
                          {.threads = 2, .on_chunk = [&told](std::uint64_t n) { told += n; }});
          EXPECT_EQ(told, share.size());
          EXPECT_EQ(std::memcmp(share.data(), whole_.data(), kSecondCopyBlock), 0);
        }
        for (std::uint32_t i = 0; i < placement.extents().size(); ++i) {
          const PlacedExtent& extent = placement.extents()[i];
          ASSERT_EQ(extent.copy_count, replicas);
          for (std::uint32_t c = 0; c < replicas; ++c) {
            const ExtentCopy& copy = extent.copies[c];
            EXPECT_EQ(std::memcmp(shares[copy.node].data() + copy.offset,
                                  whole_.data() + extent.begin, placement.end_of(i) - extent.begin),
                      0)
                << "extent " << i << " on node " << copy.node;
          }
        }
        EXPECT_GE(placement.extents().size(), extent_bytes > 0 ? nodes : 1u);
      }
    }
  }
}

TEST_F(SecondCopyShare, ExtentsEndBetweenRows) {
  const std::uint64_t begin = second_copy_geometry(manifest_).offset_of(0);
  for (const std::uint64_t extent_bytes : {1, 55, 56, 57, 4096, 1'000'000}) {
    const RegionPlacement placement = placed({3, 1, extent_bytes});
    for (const PlacedExtent& extent : placement.extents()) {
      EXPECT_TRUE(extent.begin == 0 || (extent.begin > begin && (extent.begin - begin) % 56 == 0))
          << extent.begin;
    }
  }
}

TEST_F(SecondCopyShare, ANodeChecksTheRowsThatItHas) {
  const RegionPlacement placement = placed({2, 1, 1000});
  const std::uint64_t second = placement.extents()[1].begin;  // on node 1
  {
    std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(second));
    file.put(static_cast<char>(std::to_integer<int>(whole_[second]) ^ 1));
  }
  const SecondCopyFile file(folder_.path(), manifest_);
  std::vector<std::byte> share(placement.node_bytes(0));
  EXPECT_EQ(tests::message_of([&] { file.load_share(placement, 0, share, {}); }), "");
  share.resize(placement.node_bytes(1));
  const std::uint64_t row = (second - second_copy_geometry(manifest_).offset_of(0)) / 56;
  EXPECT_NE(tests::message_of([&] {
              file.load_share(placement, 1, share, {});
            }).find("row " + std::to_string(row) + " is damaged"),
            std::string::npos);
}

TEST_F(SecondCopyShare, APlacementThatCutsARowIsRefused) {
  const std::uint64_t bytes = whole_.size();
  PlacedExtent first{.begin = 0, .copy_count = 1, .copies = {ExtentCopy{0, 0}}};
  PlacedExtent next{.begin = 2 * kSecondCopyBlock + 57,
                    .copy_count = 1,
                    .copies = {ExtentCopy{1, kRegionHeaderBytes}}};
  Manifest cut = manifest_;
  cut.placement.emplace();
  cut.placement->nodes = 2;
  for (std::uint32_t region = 0; region <= kSecondCopyRegion; ++region) {
    cut.placement->regions.emplace_back(std::vector{first, next}, bytes, 2, "test");
  }
  EXPECT_NE(tests::message_of([&] { require_whole_rows(cut, "m"); }).find("cuts a row"),
            std::string::npos);
  next.begin -= 1;
  cut.placement->regions.back() = RegionPlacement({first, next}, bytes, 2, "test");
  EXPECT_EQ(tests::message_of([&] { require_whole_rows(cut, "m"); }), "");
}

/// Another reduction of the same data has another header.
TEST_F(SecondCopyShare, TheManifestKnowsItsOwnSecondCopy) {
  facts_.parameters[3] = 0.5f;
  Manifest other = manifest_;
  other.second_copy = second_copy_entry(facts_, manifest_);
  EXPECT_NE(
      tests::message_of([&] { SecondCopyFile(folder_.path(), other); }).find("of another index"),
      std::string::npos);
}

}  // namespace
}  // namespace farvec::layout
