// The bytes of lists, codes and centroids of clusters, and who writes them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "base/error.h"
#include "layout/cluster/cluster_layout.h"
#include "layout/index/cluster_report.h"
#include "tests/unit/layout/cluster/random_clusters.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::layout {
namespace {

class ClusterBytes : public testing::Test {
 protected:
  ClusterBytes() { clusters_.write(path_, ClusterLayoutKind::grouped); }

  RandomClusters clusters_;
  tests::TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_.path() / "index";
};

TEST_F(ClusterBytes, RefuseATornList) {
  const auto index = IndexDirectory::open(path_);
  const ClusterLocator locator = index.load_cluster_locator(kOneThread);
  HugeBuffer region = index.load_region(kRecordsRegion, kOneThread);
  std::vector<Address> addresses(locator.max_members());
  const ByteRange list = locator.list(3);
  const auto bytes = region.span().subspan(list.offset, list.bytes);
  EXPECT_TRUE(locator.read_list(3, bytes, addresses.data()).ok());
  EXPECT_EQ(locator.read_list(3, bytes.first(bytes.size() - 1), addresses.data()).code(),
            StatusCode::data_loss);
  EXPECT_EQ(locator.read_list(4, bytes, addresses.data()).code(), StatusCode::data_loss)
      << "another cluster's list";
  bytes[0] ^= std::byte{4};
  EXPECT_EQ(locator.read_list(3, bytes, addresses.data()).code(), StatusCode::data_loss);
}

TEST_F(ClusterBytes, OfCodesAreThoseOfTheGroupAndThenOfTheStrays) {
  for (const bool checksums : {false, true}) {
    clusters_.write(path_, ClusterLayoutKind::coded, checksums);
    const auto index = IndexDirectory::open(path_);
    const ClusterLocator locator = index.load_cluster_locator(kOneThread);
    const HugeBuffer region = index.load_region(kRecordsRegion, kOneThread);
    std::vector<Address> addresses(locator.max_members());
    for (ClusterId c = 0; c < clusters_.clusters(); ++c) {
      const ClusterEntry& entry = locator.entry(c);
      EXPECT_EQ(entry.list_offset % kCacheLineBytes, 0u);
      const ByteRange range = locator.list(c);
      EXPECT_EQ(range.bytes == 0, entry.members() == 0);
      const auto list = region.span().subspan(range.offset, range.bytes);
      ASSERT_TRUE(locator.read_list(c, list, addresses.data()).ok());
      const std::byte* const codes = ClusterLocator::codes(list);
      for (std::uint32_t i = 0; i < entry.members(); ++i) {
        const Address address = i < entry.group_records ? locator.first_of_group(c) + i
                                                        : addresses[i - entry.group_records];
        const auto id = load_unaligned<NodeId>(region.data() + locator.offset_of(address) +
                                               locator.geometry().vector_bytes);
        ASSERT_EQ(codes[i / kCodeBlock * RandomClusters::kCodeBlockBytes + i % kCodeBlock],
                  RandomClusters::code_of(c, id));
      }
    }
  }
}

TEST_F(ClusterBytes, OfCodesHaveTheRecordsChecksums) {
  for (const bool checksums : {false, true}) {
    clusters_.write(path_, ClusterLayoutKind::coded, checksums);
    const auto index = IndexDirectory::open(path_);
    const ClusterLocator locator = index.load_cluster_locator(kOneThread);
    HugeBuffer region = index.load_region(kRecordsRegion, kOneThread);
    std::vector<Address> addresses(locator.max_members());
    const ByteRange range = locator.list(3);
    const auto list = region.span().subspan(range.offset, range.bytes);
    list[1] ^= std::byte{4};
    EXPECT_EQ(locator.read_list(3, list, addresses.data()).ok(), !checksums);
    list[1] ^= std::byte{4};
    list[locator.geometry().code_bytes(locator.entry(3))] ^= std::byte{4};
    EXPECT_FALSE(locator.read_list(3, list, addresses.data()).ok()) << "an address";
  }
}

TEST_F(ClusterBytes, RefuseParametersOfCodesThatLie) {
  const Manifest manifest = clusters_.write(path_, ClusterLayoutKind::coded);
  const auto index = IndexDirectory::open(path_);
  HugeBuffer region = index.load_region(kCentroidsRegion, kOneThread);
  const auto parse = [&](const Manifest& of) {
    return parse_centroids(region.span(), of.centroids_shape(), "c.bin");
  };
  const Centroids centroids = parse(manifest);
  EXPECT_EQ(centroids.codes.bits, RandomClusters::codes().bits);
  EXPECT_EQ(centroids.code_centroid.size(), RandomClusters::kDimension);
  std::byte* const at = region.data() + kRegionHeaderBytes + centroids.header.codes_offset();
  const CodesHeader good = centroids.codes;
  for (const auto change :
       {+[](CodesHeader& h) { h.bits += 1; }, +[](CodesHeader& h) { h.dimension += 1; },
        +[](CodesHeader& h) { h.record_bytes += 1; }, +[](CodesHeader& h) { h.count += 1; },
        +[](CodesHeader& h) { h.extension_bits = 1; },
        +[](CodesHeader& h) { h.metric = Metric::cosine; },
        +[](CodesHeader& h) { h.type = ElementType::f16; }}) {
    CodesHeader bad = good;
    change(bad);
    std::memcpy(at, &bad, sizeof(bad));
    EXPECT_THROW(parse(manifest), Error);
  }
  std::memcpy(at, &good, sizeof(good));
  store_unaligned(at + sizeof(good), std::numeric_limits<float>::quiet_NaN());
  EXPECT_THROW(parse(manifest), Error);
  Manifest without = manifest;
  without.cluster().geometry.kind = ClusterLayoutKind::grouped;
  EXPECT_THROW(parse(without), Error) << "codes that nobody speaks of";
}

TEST_F(ClusterBytes, RefuseAnAddressBeyondTheRegion) {
  const auto index = IndexDirectory::open(path_);
  const ClusterLocator locator = index.load_cluster_locator(kOneThread);
  HugeBuffer region = index.load_region(kRecordsRegion, kOneThread);
  std::vector<Address> addresses(locator.max_members());
  const ByteRange list = locator.list(3);
  const auto bytes = region.span().subspan(list.offset, list.bytes);
  bytes[2] = std::byte{0xff};
  const auto packed = bytes.first(bytes.size() - 4);
  store_unaligned(bytes.data() + packed.size(), list_checksum(packed, 3));
  EXPECT_EQ(locator.read_list(3, bytes, addresses.data()).code(), StatusCode::data_loss);
}

TEST_F(ClusterBytes, RefuseCentroidsThatLie) {
  const auto index = IndexDirectory::open(path_);
  HugeBuffer region = index.load_region(kCentroidsRegion, kOneThread);
  const auto parse = [&] {
    return parse_centroids(region.span(), index.manifest().centroids_shape(), "c.bin");
  };
  const Centroids centroids = parse();
  EXPECT_EQ(centroids.neighbors[4], 5u);
  EXPECT_EQ(centroids.header.space_dimension, RandomClusters::kDimension);
  auto* const header = reinterpret_cast<CentroidsHeader*>(region.data() + kRegionHeaderBytes);
  const CentroidsHeader good = *header;
  for (const auto change :
       {+[](CentroidsHeader& h) { h.clusters += 1; }, +[](CentroidsHeader& h) { h.entry = 99; },
        +[](CentroidsHeader& h) { h.edges += 1; },
        +[](CentroidsHeader& h) { h.space_dimension = 1; },
        +[](CentroidsHeader& h) { h.max_degree = 0; }}) {
    change(*header);
    EXPECT_THROW(parse(), Error);
    *header = good;
  }
  store_unaligned(region.data() + kRegionHeaderBytes + good.edges_offset(), ClusterId{99});
  EXPECT_THROW(parse(), Error);
}

/// A graph without edges: nothing to copy, and nowhere to copy it from or to.
TEST(CentroidsRegion, MayHaveOneCentroid) {
  const std::vector<float> centroid = {1, 2, 3};
  const std::uint32_t no_neighbours = 0;
  const auto payload =
      encode_centroids({centroid, 3, {.degrees = &no_neighbours, .count = 1, .entry = 0}});
  std::vector<std::byte> region(kRegionHeaderBytes + payload.size());
  std::copy(payload.begin(), payload.end(), region.begin() + kRegionHeaderBytes);
  Manifest manifest;
  manifest.dimension = 3;
  manifest.description.emplace<ClusterDescription>().geometry.clusters = 1;
  const Centroids read = parse_centroids(region, manifest.centroids_shape(), "c.bin");
  EXPECT_EQ(read.centroids, centroid);
  EXPECT_EQ(read.degrees, std::vector<std::uint32_t>{0});
  EXPECT_TRUE(read.neighbors.empty());
}

TEST_F(ClusterBytes, SurviveTheManifest) {
  const Manifest coded = clusters_.write(path_, ClusterLayoutKind::coded);
  const ClusterGeometry geometry =
      manifest_from_json(manifest_to_json(coded), "m.json").cluster().geometry;
  EXPECT_EQ(geometry.code_bits, RandomClusters::codes().bits);
  EXPECT_EQ(geometry.code_block_bytes, RandomClusters::kCodeBlockBytes);
  const Manifest written = clusters_.write(path_, ClusterLayoutKind::grouped_inline);
  const Manifest read = manifest_from_json(manifest_to_json(written), "m.json");
  EXPECT_EQ(read.kind(), IndexKind::cluster);
  EXPECT_EQ(read.cluster().geometry.kind, ClusterLayoutKind::grouped_inline);
  EXPECT_EQ(read.cluster().geometry.members, clusters_.membership().clusters.size());
  EXPECT_EQ(read.cluster().replication, written.cluster().replication);
  EXPECT_EQ(read.cluster().build.closure_ratio, 1.25);
  Manifest wrong = written;
  wrong.cluster().replication[1] += 1;
  EXPECT_THROW((void)manifest_from_json(manifest_to_json(wrong), "m.json"), Error);
  wrong = written;
  wrong.cluster().geometry.clusters += 1;
  EXPECT_THROW((void)manifest_from_json(manifest_to_json(wrong), "m.json"), Error);
}

TEST_F(ClusterBytes, AreReported) {
  const auto index = IndexDirectory::open(path_);
  const ClusterReport report =
      cluster_report(index.manifest(), index.load_cluster_locator(kOneThread));
  const auto members = static_cast<double>(clusters_.membership().clusters.size());
  EXPECT_EQ(report.empty_clusters, 1u);
  EXPECT_NEAR(report.clusters_per_vector, members / 700, 1e-9);
  EXPECT_NEAR(report.stray_share, (members - 700) / members, 1e-9);
  EXPECT_NEAR(report.groups.mean, 700.0 / 23, 1e-9);
  EXPECT_GT(report.coupled_amplification, report.amplification);
}

TEST(ClusterEncoder, RefusesShapesThatDoNotFit) {
  const RandomClusters clusters;
  ClusterContents contents = clusters.contents();
  contents.homes = contents.homes.first(10);
  EXPECT_THROW(ClusterEncoder(ClusterLayoutKind::grouped, contents), Error);
  contents = clusters.contents();
  std::vector<ClusterId> homes(clusters.homes().size(), clusters.clusters() - 1);
  contents.homes = homes;
  EXPECT_THROW(ClusterEncoder(ClusterLayoutKind::grouped, contents), Error)
      << "at home where they are not";
}

TEST(ClusterEncoder, RefusesCodesThatCannotBe) {
  const RandomClusters clusters;
  ClusterContents contents = clusters.contents();
  contents.codes.bits = 9;
  EXPECT_THROW(ClusterEncoder(ClusterLayoutKind::coded, contents), Error);
  contents.codes = {};
  EXPECT_THROW(ClusterEncoder(ClusterLayoutKind::coded, contents), Error) << "there are none";
  EXPECT_NO_THROW(ClusterEncoder(ClusterLayoutKind::grouped, contents));
}

TEST(ClusterEncoder, GivesTheSameBytesForAnyNumberOfThreads) {
  const RandomClusters clusters(5000, 70, 8);
  for (const ClusterLayoutKind kind : kClusterLayouts) {
    const ClusterEncoder encoder(kind, clusters.contents());
    std::vector<std::byte> one;
    std::vector<std::byte> three;
    const auto append_to = [](std::vector<std::byte>& all) {
      return [&all](std::span<const std::byte> bytes) {
        all.insert(all.end(), bytes.begin(), bytes.end());
      };
    };
    encoder.stream(1, append_to(one), [](std::uint64_t) {});
    encoder.stream(3, append_to(three), [](std::uint64_t) {});
    EXPECT_EQ(one.size(), encoder.region_bytes() - kRegionHeaderBytes);
    EXPECT_EQ(one, three);
  }
}

}  // namespace
}  // namespace farvec::layout
