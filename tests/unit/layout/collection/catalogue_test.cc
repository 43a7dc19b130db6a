#include "layout/collection/catalogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <xxhash.h>

#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "base/memory.h"
#include "base/random.h"
#include "layout/collection/updates_file.h"
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

const Schema& catalogue_schema() {
  static const Schema kSchema = parse_schema("price: i64, name: string");
  return kSchema;
}

/// The rows of the segments have attributes, in the file of each second one, and of the others' too
/// these were updated.
Catalogue attributed(Catalogue catalogue, const std::vector<std::vector<NodeId>>& updated) {
  catalogue.manifest.schema = catalogue_schema();
  for (std::size_t i = 0; i < updated.size(); ++i) {
    SegmentEntry& segment = catalogue.manifest.segments[i];
    CatalogueSegment& held = catalogue.segments[i];
    segment.attributed = i % 2 == 0;
    if (segment.attributed) held.attributes = {64 + segment.rows * 8 + 30 * segment.rows, 3000 + i};
    if (updated[i].empty()) continue;
    segment.update_version = 30 + i;
    segment.update_count = updated[i].size();
    Tuples tuples;
    for (const NodeId row : updated[i]) {
      tuples.append(catalogue_schema(),
                    std::vector<Value>{std::int64_t{row}, std::string(row % 9, 'n')});
    }
    held.updates = UpdatedTuples().with(updated[i], tuples.view());
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

TEST(Catalogue, HasAttributesAndTheirUpdates) {
  const std::vector<std::vector<NodeId>> updated{{}, {0, 5, 63}, {1, 69},
                                                 {}, {32'768},   {7, 200'000}};
  const Catalogue catalogue = attributed(
      catalogue_of({1, 64, 70, 32'768, 32'769, 200'001}, {{}, {3}, {}, {}, {9}, {}}), updated);
  const std::vector<std::byte> bytes = encode_catalogue(catalogue);
  EXPECT_EQ(load_unaligned<std::uint32_t>(bytes.data() + 8), 2u) << "older farvecs refuse it";
  const Catalogue read = decode_catalogue(bytes, "the catalogue");
  EXPECT_EQ(read.manifest, catalogue.manifest);
  for (std::size_t i = 0; i < updated.size(); ++i) {
    EXPECT_EQ(read.segments[i].ids_checksum, 2000 + i);
    EXPECT_EQ(read.segments[i].out.count(), catalogue.segments[i].out.count());
    EXPECT_EQ(read.segments[i].attributes, catalogue.segments[i].attributes);
    ASSERT_EQ(read.segments[i].updates.rows(), updated[i]);
    for (const NodeId row : updated[i]) {
      const Tuple tuple(read.segments[i].updates.find(row));
      EXPECT_EQ(tuple.value(catalogue_schema(), 0), Value(std::int64_t{row}));
      EXPECT_EQ(tuple.value(catalogue_schema(), 1), Value(std::string(row % 9, 'n')));
    }
  }
}

TEST(Catalogue, WithoutAttributesIsAsItWas) {
  const auto bytes = encode_catalogue(catalogue_of({70}, {{}}));
  EXPECT_EQ(load_unaligned<std::uint32_t>(bytes.data() + 8), 1u);
}

TEST(Catalogue, EveryFaultOfAttributesIsFound) {
  const std::vector<std::byte> whole =
      encode_catalogue(attributed(catalogue_of({70, 9}, {{0, 64}, {}}), {{3, 60}, {8}}));
  ASSERT_EQ(error_of(whole), "");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THAT(error_of(std::span(whole).first(size)), StartsWith("the catalogue")) << size;
    // With checksums that are right, whatever is not there is missed.
    if (size < sizeof(CatalogueHeader)) continue;
    EXPECT_NE(error_of(sealed({whole.begin(), whole.begin() + static_cast<long>(size)})), "");
  }
  for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::vector<std::byte> bytes = whole;
    bytes[bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
    ASSERT_THAT(error_of(bytes), StartsWith("the catalogue")) << "byte " << bit / 8;
  }
}

TEST(Catalogue, WhoseAttributesContradictTheManifestIsRefused) {
  const Catalogue catalogue = attributed(catalogue_of({70}, {{}}), {{3, 60}});
  const std::vector<std::byte> whole = encode_catalogue(catalogue);
  const std::size_t updates =
      encode_updates(catalogue.manifest.segments[0], catalogue.segments[0].updates).size();
  const std::size_t entry = whole.size() - updates - sizeof(CatalogueAttributes);
  const auto with = [&](std::size_t at, std::uint64_t value) {
    std::vector<std::byte> bytes = whole;
    store_unaligned(bytes.data() + at, value);
    return error_of(sealed(bytes));
  };
  ASSERT_EQ(error_of(sealed(whole)), "");
  EXPECT_THAT(with(entry, 0), HasSubstr("cannot have 0 bytes"));
  EXPECT_THAT(with(entry, ~0ull), HasSubstr("cannot have"));
  EXPECT_THAT(with(entry + 16, 0), HasSubstr("has 2 updated rows, and they have 0 bytes"));
  EXPECT_THAT(with(entry + 16, updates - 1), HasSubstr("updates of segment 0"));
  EXPECT_THAT(with(entry + 16, updates + 1), HasSubstr("truncated"));
  EXPECT_THAT(with(entry + 16, ~0ull), HasSubstr("truncated"));
  EXPECT_THAT(with(entry + 24 + 16, 1), HasSubstr("updates of segment 0")) << "another segment's";
  EXPECT_THAT(with(entry + 24 + 64, 70), HasSubstr("updates of segment 0")) << "a row too many";
  std::vector<std::byte> plain = encode_catalogue(catalogue_of({70}, {{}}));
  plain[8] = std::byte{2};
  EXPECT_THAT(error_of(sealed(plain)),
              HasSubstr("has version 2, which is not that of rows without"));
  std::vector<std::byte> old = whole;
  old[8] = std::byte{1};
  EXPECT_THAT(error_of(sealed(old)), HasSubstr("open the collection for writing with this farvec"));
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
