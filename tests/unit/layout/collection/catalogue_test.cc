#include "layout/collection/catalogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <xxhash.h>

#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "tests/unit/message_of.h"

namespace farvec::layout {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using tests::message_of;

using Outs = std::vector<std::set<NodeId>>;

/// A segment of each number of rows, of which these are out.
Catalogue catalogue_of(const std::vector<std::uint64_t>& rows, const Outs& outs) {
  Catalogue catalogue;
  CollectionManifest& manifest = catalogue.manifest;
  manifest.dimension = 5;
  manifest.revision = 17;
  manifest.next_segment = 100;
  manifest.last_version = 40;
  manifest.segments_on_nodes = 0xabc;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::uint64_t count = outs[i].size();
    manifest.segments.push_back({.number = 3 * i,
                                 .rows = rows[i],
                                 .out_version = count == 0 ? 0 : 20 + i,
                                 .out_count = count});
    catalogue.segments.push_back(
        {1000 + i, 2000 + i, RowSet().with(std::vector<NodeId>(outs[i].begin(), outs[i].end()))});
  }
  return catalogue;
}

std::string error_of(std::span<const std::byte> bytes) {
  return message_of([&] { (void)decode_catalogue(bytes, "the catalogue"); });
}

/// With checksums that match what was changed.
std::vector<std::byte> sealed(std::vector<std::byte> bytes) {
  CatalogueHeader header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  header.body_checksum = XXH3_64bits(bytes.data() + sizeof(header), bytes.size() - sizeof(header));
  header.header_checksum = XXH3_64bits(&header, offsetof(CatalogueHeader, header_checksum));
  std::memcpy(bytes.data(), &header, sizeof(header));
  return bytes;
}

TEST(Catalogue, ComesBack) {
  Random random(5);
  const std::vector<std::uint64_t> rows{1, 64, 70, 32'768, 32'769, 200'001};
  for (int round = 0; round < 5; ++round) {
    Outs outs(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::uint64_t most = random.below(3) == 0 ? 0 : random.below(rows[i]) / 100 + 1;
      for (std::uint64_t n = 0; n < most; ++n) {
        outs[i].insert(static_cast<NodeId>(random.below(rows[i])));
      }
    }
    if (round == 0) outs.back() = {0, 32'767, 32'768, 200'000};
    const Catalogue catalogue = catalogue_of(rows, outs);
    const Catalogue read = decode_catalogue(encode_catalogue(catalogue), "the catalogue");
    EXPECT_EQ(read.manifest, catalogue.manifest);
    ASSERT_EQ(read.segments.size(), rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      EXPECT_EQ(read.segments[i].index_checksum, 1000 + i);
      EXPECT_EQ(read.segments[i].ids_checksum, 2000 + i);
      ASSERT_EQ(read.segments[i].out.count(), outs[i].size());
      for (const NodeId row : outs[i]) ASSERT_TRUE(read.segments[i].out.contains(row));
    }
  }
}

TEST(Catalogue, HasOnlyBlocksOfWhichRowsAreOut) {
  const auto bytes = [](const Outs& outs) {
    return encode_catalogue(catalogue_of({10'000'000}, outs)).size();
  };
  const std::size_t none = bytes({{}});
  EXPECT_LT(none, 2000u);
  // The manifest's numbers may have other lengths.
  EXPECT_LT(bytes({{9'999'999}}), none + sizeof(CatalogueBlock) + 64);
  EXPECT_LT(bytes({{0, 1, 5'000'000}}), none + 2 * sizeof(CatalogueBlock) + 64);
}

TEST(Catalogue, OfNoSegmentsIsOne) {
  const Catalogue read = decode_catalogue(encode_catalogue(catalogue_of({}, {})), "the catalogue");
  EXPECT_EQ(read.manifest.revision, 17u);
  EXPECT_TRUE(read.segments.empty());
}

TEST(Catalogue, EveryFaultIsFound) {
  const std::vector<std::byte> whole = encode_catalogue(catalogue_of({70, 9}, {{0, 64, 69}, {}}));
  ASSERT_EQ(error_of(whole), "");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THAT(error_of(std::span(whole).first(size)), StartsWith("the catalogue")) << size;
  }
  std::vector<std::byte> more = whole;
  more.push_back(std::byte{0});
  EXPECT_NE(error_of(more), "");
  for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::vector<std::byte> bytes = whole;
    bytes[bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
    ASSERT_THAT(error_of(bytes), StartsWith("the catalogue")) << "byte " << bit / 8;
  }
}

TEST(Catalogue, ThatContradictsItselfIsRefused) {
  const std::vector<std::byte> whole = encode_catalogue(catalogue_of({70}, {{0, 64, 69}}));
  const std::size_t block = whole.size() - sizeof(CatalogueBlock);
  const auto with = [&](std::size_t at, std::uint8_t value) {
    std::vector<std::byte> bytes = whole;
    bytes[at] = std::byte{value};
    return error_of(sealed(bytes));
  };
  ASSERT_EQ(error_of(sealed(whole)), "");
  EXPECT_THAT(with(block, 1), HasSubstr("block 1"));
  EXPECT_THAT(with(block + 8, 3), HasSubstr("4 rows of segment 0 are out"));
  EXPECT_THAT(with(block + 8 + 8, 0x60), HasSubstr("after the last"));
  EXPECT_THAT(with(block + 8 + 16, 1), HasSubstr("after the last"));
  EXPECT_THAT(with(12, 2), HasSubstr("2 segments, and its manifest 1"));
  EXPECT_THAT(with(24, 2), HasSubstr("2 are due"));
  EXPECT_THAT(with(8, 99), HasSubstr("version 99"));
  EXPECT_THAT(with(0, 'X'), HasSubstr("no catalogue"));
}

}  // namespace
}  // namespace farvec::layout
