// Writes small valid clusters and graphs in every layout, a list, centroids, and what a page store
// and a collection keep.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/input_file.h"
#include "layout/cluster/centroids_region.h"
#include "layout/cluster/cluster_encoder.h"
#include "layout/index/index_directory.h"
#include "layout/index/index_writer.h"
#include "tests/fuzz/layout/cluster_fuzz.h"
#include "tests/fuzz/layout/collection_seeds.h"
#include "tests/fuzz/layout/device_fuzz.h"
#include "tests/fuzz/layout/index_attributes_input.h"
#include "tests/fuzz/layout/second_copy_input.h"
#include "tests/fuzz/layout/store_seeds.h"
#include "tests/fuzz/layout/tuple_fuzz.h"
#include "tests/fuzz/seed_files.h"
#include "tests/unit/layout/graph/random_graph.h"

namespace {

using namespace farvec;
using namespace farvec::layout;

constexpr std::uint32_t kCount = 30;

/// Vector v is at home in cluster v mod 5, of 6, and every other one in the next one too.
struct SmallClusters {
  SmallClusters() {
    for (NodeId v = 0; v < kCount; ++v) {
      const ClusterId home = v % (fuzz::kClusters - 1);
      homes.push_back(home);
      members.push_back(home);
      if (v % 2 == 0) members.push_back((home + 1) % (fuzz::kClusters - 1));
      begins.push_back(members.size());
    }
    for (std::size_t i = 0; i < kCount * fuzz::kVectorBytes; ++i) {
      rows.push_back(static_cast<std::uint8_t>(i));
    }
  }
  ClusterContents contents(bool checksums) const {
    return {{begins, members},
            homes,
            packed_view(rows.data(), kCount, fuzz::kVectorBytes, ElementType::u8),
            fuzz::kClusters,
            checksums,
            {1, fuzz::kCodeBlockBytes,
             [](ClusterId, std::span<const NodeId>, std::span<std::byte> out) {
               std::fill(out.begin(), out.end(), std::byte{7});
             }}};
  }

  std::vector<std::uint64_t> begins{0};
  std::vector<ClusterId> members;
  std::vector<ClusterId> homes;
  std::vector<std::uint8_t> rows;
};

template <typename T>
void append(std::vector<std::byte>& bytes, std::span<const T> values) {
  const auto raw = std::as_bytes(values);
  bytes.insert(bytes.end(), raw.begin(), raw.end());
}

/// As layout_cluster_table_fuzz reads it.
std::vector<std::byte> cluster_input(const ClusterEncoder& encoder) {
  const ClusterGeometry& geometry = encoder.geometry();
  const fuzz::ClusterInput head{.kind = static_cast<std::uint8_t>(geometry.kind),
                                .checksums = geometry.record_checksum,
                                .address_bytes = static_cast<std::uint8_t>(geometry.address_bytes),
                                .count = static_cast<std::uint8_t>(geometry.count),
                                .members = static_cast<std::uint16_t>(geometry.members)};
  std::vector<std::byte> bytes;
  append(bytes, std::span(&head, 1));
  append(bytes, encoder.table());
  encoder.stream(
      1, [&](std::span<const std::byte> some) { append(bytes, some); }, [](std::uint64_t) {});
  return bytes;
}

void write_clusters(const std::filesystem::path& folder) {
  const SmallClusters clusters;
  for (const ClusterLayoutKind kind : kClusterLayouts) {
    for (const bool checksums : {false, true}) {
      const std::string name = std::string(to_string(kind)) + (checksums ? "-checksums" : "");
      fuzz::write_seed(fuzz::seed_path(folder, "layout_cluster_table_fuzz", name),
                       cluster_input(ClusterEncoder(kind, clusters.contents(checksums))));
    }
  }
}

void write_list(const std::filesystem::path& folder) {
  std::vector<std::byte> list(40 * 3);
  for (std::size_t i = 0; i < 40; ++i) list[3 * i] = static_cast<std::byte>(i);
  const std::uint32_t checksum = list_checksum(list, 0);
  append(list, std::span(&checksum, 1));
  fuzz::write_seed(fuzz::seed_path(folder, "layout_cluster_list_fuzz", "list"), list);
}

/// Four centroids in a ring.
void write_centroids(const std::filesystem::path& folder) {
  const std::array<std::uint32_t, 4> degrees{1, 1, 1, 1};
  const std::array<ClusterId, 4> ring{1, 2, 3, 0};
  for (const std::uint32_t dimension : {3u, 4u}) {
    const std::vector<float> centroids(4 * dimension, 0.5f);
    fuzz::write_seed(
        fuzz::seed_path(folder, "layout_centroids_fuzz", std::to_string(dimension)),
        encode_centroids({centroids, dimension, {ring.data(), degrees.data(), 4, 1, 0}}));
  }
}

/// An index of 40 vertices, as layout_region_fuzz knows it.
void write_graph(const std::filesystem::path& path, LayoutKind layout) {
  const RandomGraph graph(40, 9, 5, ElementType::u8);
  Manifest manifest;
  manifest.source_type = ElementType::u8;
  manifest.graph().layout = layout;
  manifest.graph().neighbor_code_bytes = graph.geometry(layout).code_bytes;
  manifest.graph().max_degree = 9;
  manifest.graph().build = {9, 20, 1.2, 1, 1, 4};
  manifest.dataset = {"seed", "seed.u8bin", 5, 40, fingerprint(graph.vectors())};
  CodesHeader header;
  header.bits = 4;
  header.dimension = 5;
  header.record_bytes = 4;
  header.type = ElementType::u8;
  header.count = 40;
  const std::vector<float> centroid(5);
  const std::vector<std::byte> codes(40 * 4);
  (void)write_index(path, manifest, {graph.contents(layout), {header, centroid, codes}},
                    {.overwrite = true, .threads = 1, .quiet = true});
}

/// The manifest, and a record, of graphs in the layouts that have records.
void write_graphs(const std::filesystem::path& folder) {
  constexpr NodeId kVertex = 7;
  for (const LayoutKind layout :
       {LayoutKind::csr, LayoutKind::padded, LayoutKind::inlined, LayoutKind::packed}) {
    const std::string name(to_string(layout));
    const std::filesystem::path path = folder / ("index-" + name);
    write_graph(path, layout);
    std::filesystem::copy_file(path / kManifestFile,
                               fuzz::seed_path(folder, "layout_manifest_fuzz", name),
                               std::filesystem::copy_options::overwrite_existing);
    const auto index = IndexDirectory::open(path);
    const HugeBuffer records = index.load_region(kRecordsRegion, {.quiet = true});
    const Extent extent = index.load_locator({.quiet = true}).locate(kVertex);
    fuzz::write_seed(fuzz::seed_path(folder, "layout_region_fuzz", "record-" + name),
                     records.span().subspan(extent.offset, extent.bytes));
    const HugeBuffer codes = index.load_region(kCodesRegion, {.quiet = true});
    fuzz::write_seed(fuzz::seed_path(folder, "layout_region_fuzz", "codes-" + name),
                     codes.span().subspan(kRegionHeaderBytes));
    std::filesystem::remove_all(path);
  }
}

/// As layout_device_directory_fuzz reads it: a directory with one index, and its description.
void write_device(const std::filesystem::path& folder) {
  DeviceDirectory directory;
  directory.sequence = 3;
  directory.device_bytes = fuzz::kDeviceUnits * kDeviceUnitBytes;
  DeviceIndex index;
  index.generation = 5;
  index.name = "seed";
  index.description = {4 * kDeviceUnitBytes, 100};
  for (std::uint32_t id = 0; id < kRegionCount; ++id) {
    index.regions.push_back(
        {id, RegionKind::records_csr, {(id + 1) * kDeviceUnitBytes, kRegionHeaderBytes + id}});
  }
  directory.slots[1] = index;
  std::vector<std::byte> bytes = encode_device_directory(directory);
  append(bytes, std::span<const std::byte>(encode_device_description({"{}", {1, 2, 3}})));
  fuzz::write_seed(fuzz::seed_path(folder, "layout_device_directory_fuzz", "one"), bytes);
}

/// What is before the rows of a second copy, of bits and of bytes.
void write_second_copies(const std::filesystem::path& folder) {
  for (const bool bytes : {false, true}) {
    Manifest manifest = fuzz::SecondCopyInput::reduced_manifest(bytes);
    SecondCopyFacts facts{.metric = Metric::l2,
                          .reduction = bytes ? ReductionKind::rounded : ReductionKind::bits,
                          .parameters = {}};
    facts.parameters.assign(reduction_parameters(facts.reduction, manifest.dimension), 0.5f);
    manifest.second_copy = second_copy_entry(facts, manifest);
    const std::filesystem::path path = folder / "second_copy";
    std::filesystem::create_directories(path);
    const std::vector<float> rows(manifest.count * manifest.dimension, 1.0f);
    write_second_copy(
        path, manifest, facts,
        packed_view(rows.data(), manifest.count, manifest.dimension, ElementType::f32));
    const std::vector<std::byte> begin = SecondCopyFile(path, manifest).form().begin();
    for (const std::uint8_t seal : {std::uint8_t{0}, fuzz::SecondCopyInput::kSeal}) {
      const auto flags = static_cast<std::uint8_t>(
          seal | (bytes ? fuzz::SecondCopyInput::kBytes : std::uint8_t{0}));
      std::vector<std::byte> input{std::byte{flags}};
      append(input, std::span<const std::byte>(begin));
      fuzz::write_seed(
          fuzz::seed_path(folder, "layout_second_copy_fuzz", "seed" + std::to_string(flags)),
          input);
    }
    std::filesystem::remove_all(path);
  }
}

/// Both files of an index's attributes, as they are and with checksums that are made right.
void write_attributes(const std::filesystem::path& folder) {
  const Manifest manifest = fuzz::attributed_manifest();
  const Schema schema = parse_schema("price: i64, name: string not null, tags: set");
  Tuples tuples;
  for (std::uint64_t row = 0; row < manifest.count; ++row) {
    tuples.append(schema, std::vector<Value>{std::int64_t(row), std::string(row, 'n'),
                                             std::vector<std::string>{"all", "new"}});
  }
  const std::filesystem::path path = folder / "attributes";
  std::filesystem::create_directories(path);
  write_index_attributes(path, manifest, schema, tuples.view());
  const std::string text = read_text((path / kIndexSchemaFile).string(), 1 << 16, "a schema");
  const std::string file =
      read_text((path / kSegmentAttributesFile).string(), 1 << 16, "a file of attributes");
  for (const std::uint8_t flags : {std::uint8_t{0}, fuzz::IndexAttributesInput::kSeal}) {
    std::vector<std::byte> input{std::byte{flags}, std::byte(text.size()), std::byte{0}};
    append(input, std::as_bytes(std::span(text)));
    append(input, std::as_bytes(std::span(file)));
    fuzz::write_seed(fuzz::seed_path(folder, "layout_index_attributes_fuzz", std::to_string(flags)),
                     input);
  }
  std::filesystem::remove_all(path);
}

}  // namespace

int main(int argc, char** argv) {
  return fuzz::write_seeds(argc, argv, [](const std::filesystem::path& folder) {
    write_clusters(folder);
    write_graphs(folder);
    write_list(folder);
    write_centroids(folder);
    write_device(folder);
    fuzz::write_store(folder);
    fuzz::write_collection_seeds(folder);
    fuzz::write_tuples(folder);
    write_attributes(folder);
    write_second_copies(folder);
  });
}
