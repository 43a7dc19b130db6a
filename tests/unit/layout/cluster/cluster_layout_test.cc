#include "layout/cluster/cluster_layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "base/error.h"
#include "layout/cluster/cluster_decoder.h"
#include "layout/index/cut_points.h"
#include "tests/unit/layout/cluster/random_clusters.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::layout {
namespace {

class ClusterLayout : public testing::TestWithParam<ClusterLayoutKind> {
 protected:
  tests::TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_.path() / "index";
};

/// The ids of a cluster's members, read as a search reads them.
std::vector<NodeId> read_members(const ClusterLocator& locator, std::span<const std::byte> region,
                                 ClusterId cluster) {
  std::vector<NodeId> ids;
  const auto id_at = [&](std::uint64_t offset) {
    return load_unaligned<NodeId>(region.data() + offset + locator.geometry().vector_bytes);
  };
  const ByteRange group = locator.group(cluster);
  for (std::uint32_t i = 0; i < locator.entry(cluster).group_records; ++i) {
    ids.push_back(id_at(group.offset + i * locator.geometry().record_bytes()));
  }
  const ByteRange list = locator.list(cluster);
  std::vector<Address> addresses(locator.entry(cluster).list_addresses);
  const Status status =
      locator.read_list(cluster, region.subspan(list.offset, list.bytes), addresses.data());
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_TRUE(std::is_sorted(addresses.begin(), addresses.end()));
  for (const Address address : addresses) ids.push_back(id_at(locator.offset_of(address)));
  std::sort(ids.begin(), ids.end());
  return ids;
}

TEST_P(ClusterLayout, HoldsEveryClustersMembers) {
  const RandomClusters clusters;
  clusters.write(path_, GetParam());
  const auto index = IndexDirectory::open(path_);
  const ClusterLocator locator = index.load_cluster_locator(kOneThread);
  const HugeBuffer region = index.load_region(kRecordsRegion, kOneThread);
  for (ClusterId c = 0; c < clusters.clusters(); ++c) {
    EXPECT_EQ(read_members(locator, region.span(), c), clusters.members_of(c)) << c;
  }
  EXPECT_EQ(locator.entry(clusters.clusters() - 1).members(), 0u) << "the last one is empty";
}

TEST_P(ClusterLayout, DecodesToWhatWasEncoded) {
  const RandomClusters clusters;
  clusters.write(path_, GetParam(), true);
  const auto index = IndexDirectory::open(path_);
  const HugeBuffer region = index.load_region(kRecordsRegion, kOneThread);
  const DecodedClusters decoded =
      decode_clusters(index.load_cluster_locator(kOneThread), region.span());
  const VectorView vectors = clusters.vectors();
  EXPECT_EQ(std::memcmp(decoded.vectors.data(), vectors.data, decoded.vectors.size()), 0);
  const bool groups = index.manifest().cluster().geometry.groups();
  for (std::size_t v = 0; v < vectors.count; ++v) {
    const auto found = decoded.membership().of(v);
    const auto wanted = clusters.membership().of(v);
    EXPECT_TRUE(std::is_permutation(found.begin(), found.end(), wanted.begin(), wanted.end()));
    EXPECT_EQ(found.front(), decoded.homes[v]);
    if (groups) {
      EXPECT_EQ(decoded.homes[v], clusters.homes()[v]);
    }
  }
}

TEST_P(ClusterLayout, OneReadBringsAnInlineClusterAndNothingElse) {
  const RandomClusters clusters;
  clusters.write(path_, GetParam());
  const ClusterLocator locator = IndexDirectory::open(path_).load_cluster_locator(kOneThread);
  for (ClusterId c = 0; c < clusters.clusters(); ++c) {
    const std::uint64_t both = locator.list(c).bytes + locator.group(c).bytes;
    EXPECT_EQ(locator.whole(c).bytes, GetParam() == ClusterLayoutKind::grouped_inline ? both : 0u);
  }
}

TEST_P(ClusterLayout, CutsNeverFallIntoARead) {
  const RandomClusters clusters;
  clusters.write(path_, GetParam());
  const ClusterLocator locator = IndexDirectory::open(path_).load_cluster_locator(kOneThread);
  const CutPoints cuts(locator);
  std::vector<ByteRange> reads;
  for (ClusterId c = 0; c < clusters.clusters(); ++c) {
    reads.push_back(locator.list(c));
    reads.push_back(locator.group(c));
    reads.push_back(locator.whole(c));
  }
  std::uint64_t last = 0;
  for (std::uint64_t offset = kRegionHeaderBytes; offset < locator.region_bytes(); offset += 101) {
    const std::uint64_t cut = cuts.at_or_after(offset);
    ASSERT_GE(cut, offset);
    ASSERT_LE(cut, locator.region_bytes());
    ASSERT_GE(cut, last);
    last = cut;
    for (const ByteRange& read : reads) {
      EXPECT_FALSE(read.offset < cut && cut < read.offset + read.bytes) << cut;
    }
  }
  EXPECT_EQ(cuts.at_or_after(locator.region_bytes()), locator.region_bytes());
}

TEST_P(ClusterLayout, OneVectorInOneCluster) {
  const RandomClusters clusters(1, 1, 1);
  clusters.write(path_, GetParam());
  const auto index = IndexDirectory::open(path_);
  const HugeBuffer region = index.load_region(kRecordsRegion, kOneThread);
  EXPECT_EQ(read_members(index.load_cluster_locator(kOneThread), region.span(), 0),
            std::vector<NodeId>{0});
}

TEST_P(ClusterLayout, NoticesADamagedRecordWhenRecordsHaveChecksums) {
  const RandomClusters clusters;
  clusters.write(path_, GetParam(), true);
  const auto index = IndexDirectory::open(path_);
  const ClusterLocator locator = index.load_cluster_locator(kOneThread);
  HugeBuffer region = index.load_region(kRecordsRegion, kOneThread);
  const std::uint64_t offset =
      GetParam() == ClusterLayoutKind::decoupled ? kRegionHeaderBytes : locator.group(0).offset;
  const auto record = region.span().subspan(offset, locator.geometry().record_bytes());
  const VectorView rows = locator.rows(record, RandomClusters::kDimension, ElementType::u8);
  const std::uint32_t pick = 0;
  EXPECT_TRUE(locator.intact(rows, {&pick, 1}));
  record[3] ^= std::byte{1};
  EXPECT_FALSE(locator.intact(rows, {&pick, 1}));
}

/// What a test does to the table of a valid index; `e` are its entries.
struct Forgery {
  const char* name;
  void (*apply)(ClusterEntry* e);
};

const Forgery kForgeries[] = {
    {"group beyond the end", [](ClusterEntry* e) { e[2].group_offset = ~std::uint64_t{0}; }},
    {"list beyond the end", [](ClusterEntry* e) { e[2].list_offset = 1u << 30; }},
    {"list that wraps around", [](ClusterEntry* e) { e[2].list_offset = ~std::uint64_t{0}; }},
    {"one record more", [](ClusterEntry* e) { e[2].group_records += 1; }},
    {"one address more", [](ClusterEntry* e) { e[2].list_addresses += 1; }},
    {"a record for an address",
     [](ClusterEntry* e) {
       e[2].group_records += 1;
       e[2].list_addresses -= 1;
     }},
    {"an address for a record",
     [](ClusterEntry* e) {
       e[2].group_records -= 1;
       e[2].list_addresses += 1;
     }},
    {"many addresses", [](ClusterEntry* e) { e[2].list_addresses = 1u << 31; }},
    {"most addresses", [](ClusterEntry* e) { e[2].list_addresses = ~0u; }},
    {"most records", [](ClusterEntry* e) { e[2].group_records = ~0u; }},
    {"two clusters exchanged", [](ClusterEntry* e) { std::swap(e[2], e[3]); }},
    {"a cluster twice",
     [](ClusterEntry* e) {
       e[3].group_offset = e[2].group_offset;
       e[3].list_offset = e[2].list_offset;
     }},
    {"nothing", [](ClusterEntry* e) { std::fill_n(e, 23, ClusterEntry{}); }},
};
/// A forgery that one may not see where lists have zeros between them: then reading the list tells.
const Forgery kTightForgeries[] = {
    {"an address of the next cluster",
     [](ClusterEntry* e) {
       e[2].list_addresses += 1;
       e[3].list_addresses -= 1;
     }},
};
/// Forgeries for layouts with groups.
const Forgery kGroupForgeries[] = {
    {"group between two records", [](ClusterEntry* e) { e[2].group_offset += 1; }},
    {"group in the header", [](ClusterEntry* e) { e[0].group_offset = 0; }},
};
/// Forgeries for layouts with lists.
const Forgery kListForgeries[] = {
    {"list at the beginning", [](ClusterEntry* e) { e[20].list_offset = kRegionHeaderBytes; }},
    {"list in its group", [](ClusterEntry* e) { e[2].list_offset = e[2].group_offset; }},
    {"list one byte off", [](ClusterEntry* e) { e[2].list_offset -= 1; }},
    {"list in the header", [](ClusterEntry* e) { e[2].list_offset = 0; }},
};

TEST_P(ClusterLayout, RefuseATableThatLies) {
  const RandomClusters clusters;
  clusters.write(path_, GetParam());
  const auto index = IndexDirectory::open(path_);
  const HugeBuffer table = index.load_region(kClustersRegion, kOneThread);
  const auto with = [&](const auto& apply) {
    HugeBuffer copy(table.size());
    std::memcpy(copy.data(), table.data(), table.size());
    apply(reinterpret_cast<ClusterEntry*>(copy.data() + kRegionHeaderBytes));
    return parse_cluster_table(std::move(copy), index.manifest());
  };
  EXPECT_NO_THROW(with([](ClusterEntry*) {}));
  const auto refuse = [&](std::span<const Forgery> forgeries) {
    for (const Forgery& forgery : forgeries) {
      EXPECT_THROW(with(forgery.apply), Error) << forgery.name;
    }
  };
  refuse(kForgeries);
  if (GetParam() != ClusterLayoutKind::coded) refuse(kTightForgeries);
  if (GetParam() != ClusterLayoutKind::decoupled) refuse(kGroupForgeries);
  if (GetParam() != ClusterLayoutKind::coupled) refuse(kListForgeries);
}

/// As many members as a cluster cannot have, but whose number wraps around to what is right.
TEST(ClusterLocator, RefusesMembersThatWrapAround) {
  ClusterGeometry geometry;
  geometry.kind = ClusterLayoutKind::grouped;
  geometry.vector_bytes = 4;
  geometry.clusters = 2;
  geometry.count = 2;
  geometry.members = 2;
  HugeBuffer table(2 * sizeof(ClusterEntry));
  auto* const entries = reinterpret_cast<ClusterEntry*>(table.data());
  entries[0] = {kRegionHeaderBytes, kRegionHeaderBytes + 16, 1, ~0u};
  entries[1] = {kRegionHeaderBytes + 8, std::uint64_t{1} << 39, 1, 1};
  EXPECT_THROW(ClusterLocator(geometry, std::move(table), 0, std::uint64_t{1} << 40), Error);
}

INSTANTIATE_TEST_SUITE_P(All, ClusterLayout, testing::ValuesIn(kClusterLayouts),
                         [](const auto& kind) {
                           std::string name(to_string(kind.param));
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace farvec::layout
