#include "layout/index/index_directory.h"

#include <xxhash.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/error.h"
#include "base/file_names.h"
#include "base/input_file.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "layout/index/slotted_report.h"

namespace farvec::layout {
namespace {

constexpr std::uint64_t kMostManifestBytes = std::uint64_t{1} << 30;

void require_header(const RegionEntry& entry, const InputFile& file) {
  if (file.size() != entry.file_bytes()) {
    throw Error(
        "'{}' has {} bytes, the manifest says {}: truncated or replaced; copy it again or "
        "rebuild the index",
        file.path(), file.size(), entry.file_bytes());
  }
  RegionHeaderBlock block;
  file.read_at(0, block.data(), block.size());
  require_region_header(entry, block, file.path());
}

struct Chunk {
  std::size_t number;
  std::uint64_t begin;  ///< offset in the payload
  std::size_t bytes;
};

Chunk chunk_at(const RegionEntry& entry, std::size_t number) {
  const std::uint64_t begin = number * entry.chunk_bytes;
  return {number, begin, std::min(entry.chunk_bytes, entry.payload_bytes - begin)};
}

/// Calls body(chunk, worker) for every chunk, on several threads, with progress.
template <typename Body>
void for_each_chunk(const RegionEntry& entry, const LoadOptions& options, const char* verb,
                    const Body& body) {
  Progress progress(fmt::format("{} {}", verb, entry.file), entry.payload_bytes, options.quiet);
  parallel_for(entry.checksums.size(), 1, resolve_threads(options.threads),
               [&](std::size_t first, std::size_t last, unsigned worker) {
                 for (std::size_t number = first; number < last; ++number) {
                   const Chunk chunk = chunk_at(entry, number);
                   body(chunk, worker);
                   progress.advance(chunk.bytes);
                   if (options.on_chunk) options.on_chunk(chunk.bytes);
                 }
               });
}

void read_chunk(const RegionEntry& entry, const InputFile& file, const Chunk& chunk,
                std::span<std::byte> bytes) {
  file.read_at(kRegionHeaderBytes + chunk.begin, bytes.data(), bytes.size());
  check_chunk(entry, chunk.number, bytes, file.path());
}

/// Writes the header of a region whose payload is complete.
void publish(const RegionEntry& entry, std::span<std::byte> region) {
  const RegionHeaderBlock header = encode_region_header(entry.header());
  // The magic goes last of all, because a peer that shares this memory looks at it first.
  std::memcpy(region.data() + 8, header.data() + 8, header.size() - 8);
  // Release: a thread that sees the magic (acquire) sees the payload and the rest of the header.
  std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(region.data()))
      .store(RegionHeader::kMagic, std::memory_order_release);
}

void verify_region(const RegionEntry& entry, const InputFile& file, const LoadOptions& options) {
  std::vector<std::vector<std::byte>> buffers(resolve_threads(options.threads));
  for_each_chunk(entry, options, "verifying", [&](const Chunk& chunk, unsigned worker) {
    std::vector<std::byte>& buffer = buffers[worker];
    buffer.resize(chunk.bytes);
    read_chunk(entry, file, chunk, buffer);
  });
}

/// The limits for the entries of a folder that are looked at, and for its indexes that are named.
constexpr std::size_t kMostEntries = 10'000;
constexpr std::size_t kMostNamed = 8;

/// The folders in `directory` that hold an index, in the order of names.
std::vector<std::string> indexes_in(const std::filesystem::path& directory) {
  std::vector<std::string> names;
  std::error_code ignored;
  std::size_t entries = 0;
  std::filesystem::directory_iterator entry(directory, ignored);
  for (; !ignored && entry != std::filesystem::directory_iterator() && entries < kMostEntries;
       entry.increment(ignored), ++entries) {
    if (std::filesystem::exists(entry->path() / kManifestFile, ignored)) {
      names.push_back(entry->path().filename().string());
    }
    ignored.clear();
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// Says what a directory without a manifest is instead of an index.
[[noreturn]] void refuse_folder(const std::filesystem::path& directory) {
  const std::vector<std::string> names = indexes_in(directory);
  if (names.empty()) {
    throw Error("'{}' is not an index: it has no {}; 'farvec build graph' makes one",
                directory.string(), kManifestFile);
  }
  std::string list = names.front();
  for (std::size_t i = 1; i < std::min(names.size(), kMostNamed); ++i) list += ", " + names[i];
  if (names.size() > kMostNamed) list += fmt::format(" and {} more", names.size() - kMostNamed);
  throw Error("'{}' is not an index, but a folder that holds {}: name one, such as '{}'",
              directory.string(), list, (directory / names.front()).string());
}

}  // namespace

void require_region_header(const RegionEntry& entry, std::span<const std::byte> block,
                           const std::string& source) {
  const RegionHeader header = decode_region_header(block, source);
  const RegionHeaderBlock expected = encode_region_header(entry.header());
  if (std::memcmp(block.data(), expected.data(), expected.size()) != 0) {
    throw Error(
        "the header of '{}' says {} with {} bytes, the manifest {} with {}: they do not "
        "belong together; rebuild the index",
        source, to_string(header.kind), header.payload_bytes, to_string(entry.kind),
        entry.payload_bytes);
  }
}

void check_chunk(const RegionEntry& entry, std::size_t chunk, std::span<const std::byte> bytes,
                 const std::string& file) {
  const std::uint64_t found = XXH3_64bits(bytes.data(), bytes.size());
  if (found == entry.checksums.at(chunk)) return;
  throw Error(
      "'{}' is damaged: chunk {} ({} bytes from offset {}) has checksum {:016x}, the "
      "manifest says {:016x}; copy it again or rebuild the index",
      file, chunk, bytes.size(), kRegionHeaderBytes + chunk * entry.chunk_bytes, found,
      entry.checksums[chunk]);
}

OffsetTable parse_offset_table(HugeBuffer region, const Manifest& manifest) {
  const GraphDescription& graph = manifest.graph();
  const bool packed = graph.layout == LayoutKind::packed;
  const std::uint32_t most = packed ? manifest.graph_geometry().most_units() : graph.max_degree;
  OffsetTable table({std::move(region), kRegionHeaderBytes}, manifest.count, most);
  if (table.total() != graph.table_total()) {
    throw Error(
        "the offset table counts {} {}, the manifest {}: they do not belong together; "
        "rebuild the index",
        table.total(), packed ? "bytes of lists" : "edges", graph.table_total());
  }
  return table;
}

ClusterLocator parse_cluster_table(HugeBuffer region, const Manifest& manifest) {
  return ClusterLocator(manifest.cluster().geometry, std::move(region), kRegionHeaderBytes,
                        manifest.region(kRecordsRegion).file_bytes());
}

IndexDirectory::IndexDirectory(std::filesystem::path path, Manifest manifest)
    : path_(std::move(path)), manifest_(std::move(manifest)) {}

IndexDirectory IndexDirectory::open(const std::filesystem::path& directory) {
  const auto manifest_path = directory / kManifestFile;
  if (!std::filesystem::is_directory(directory)) {
    throw Error("'{}' is not an index: no such directory; 'farvec build graph' makes one",
                directory.string());
  }
  if (!std::filesystem::exists(manifest_path)) refuse_folder(directory);
  IndexDirectory index(
      settled_path(directory),
      manifest_from_json(read_text(manifest_path, kMostManifestBytes, "a manifest"),
                         manifest_path.string()));
  for (std::uint32_t region = 0; region < index.manifest_.regions.size(); ++region) {
    require_header(index.manifest_.region(region), InputFile(index.region_path(region).string()));
  }
  return index;
}

void IndexDirectory::check_header(std::uint32_t region, std::span<const std::byte> region_bytes,
                                  const std::string& source) const {
  FARVEC_CHECK(region_bytes.size() >= kRegionHeaderBytes, "{} bytes", region_bytes.size());
  require_region_header(manifest_.region(region), region_bytes.first(kRegionHeaderBytes), source);
}

std::filesystem::path IndexDirectory::region_path(std::uint32_t region) const {
  return path_ / manifest_.region(region).file;
}

/// A run of a region's file and its destination.
struct IndexDirectory::Piece {
  std::uint64_t begin;  ///< offset in the file
  std::uint64_t end;
  std::uint64_t destination;
};

std::vector<IndexDirectory::Piece> IndexDirectory::pieces_of(std::uint32_t region,
                                                             std::uint32_t node) const {
  if (!manifest_.placement) return {{0, manifest_.region(region).file_bytes(), 0}};
  const RegionPlacement& placement = manifest_.placement->regions[region];
  std::vector<Piece> pieces;
  for (std::uint32_t e = 0; e < placement.extents().size(); ++e) {
    const PlacedExtent& extent = placement.extents()[e];
    for (std::uint32_t c = 0; c < extent.copy_count; ++c) {
      if (extent.copies[c].node != node) continue;
      pieces.push_back({extent.begin, placement.end_of(e), extent.copies[c].offset});
    }
  }
  return pieces;
}

void IndexDirectory::load_pieces(std::uint32_t region, const std::vector<Piece>& pieces,
                                 std::span<std::byte> destination,
                                 const LoadOptions& options) const {
  const RegionEntry& entry = manifest_.region(region);
  const InputFile file(region_path(region).string());
  require_header(entry, file);
  std::memset(destination.data(), 0, kRegionHeaderBytes);
  std::vector<std::vector<std::byte>> buffers(resolve_threads(options.threads));
  for_each_chunk(entry, options, "loading", [&](const Chunk& chunk, unsigned worker) {
    const std::uint64_t begin = kRegionHeaderBytes + chunk.begin;
    const std::uint64_t end = begin + chunk.bytes;
    auto piece = std::upper_bound(pieces.begin(), pieces.end(), begin,
                                  [](std::uint64_t at, const Piece& p) { return at < p.end; });
    if (piece == pieces.end() || piece->begin >= end) return;
    if (!options.store && piece->begin <= begin && piece->end >= end) {
      const auto place = destination.subspan(piece->destination + begin - piece->begin);
      read_chunk(entry, file, chunk, place.first(chunk.bytes));
      return;
    }
    std::vector<std::byte>& buffer = buffers[worker];
    buffer.resize(chunk.bytes);
    read_chunk(entry, file, chunk, buffer);
    for (; piece != pieces.end() && piece->begin < end; ++piece) {
      const std::uint64_t from = std::max(begin, piece->begin);
      std::byte* const place = destination.data() + piece->destination + (from - piece->begin);
      const auto run = std::span(buffer).subspan(from - begin, std::min(end, piece->end) - from);
      options.store ? options.store(place, run) : (void)std::memcpy(place, run.data(), run.size());
    }
  });
  publish(entry, destination);
}

void IndexDirectory::load_region(std::uint32_t region, std::span<std::byte> destination,
                                 const LoadOptions& options) const {
  const std::uint64_t bytes = manifest_.region(region).file_bytes();
  FARVEC_CHECK(destination.size() == bytes, "{} bytes", destination.size());
  load_pieces(region, {{0, bytes, 0}}, destination, options);
}

void IndexDirectory::load_share(std::uint32_t region, std::uint32_t node,
                                std::span<std::byte> destination,
                                const LoadOptions& options) const {
  FARVEC_CHECK(node < manifest_.memory_nodes(), "node {}", node);
  FARVEC_CHECK(destination.size() == manifest_.node_bytes(node, region), "{} bytes",
               destination.size());
  load_pieces(region, pieces_of(region, node), destination, options);
}

HugeBuffer IndexDirectory::load_region(std::uint32_t region, const LoadOptions& options) const {
  HugeBuffer buffer(manifest_.region(region).file_bytes());
  load_region(region, buffer.span(), options);
  return buffer;
}

Codes IndexDirectory::load_codes(const LoadOptions& options) const {
  return parse_codes(load_region(kCodesRegion, options), manifest_.codes_shape(),
                     region_path(kCodesRegion).string());
}

OffsetTable IndexDirectory::load_offset_table(const LoadOptions& options) const {
  return parse_offset_table(load_region(kOffsetsRegion, options), manifest_);
}

GraphLocator IndexDirectory::load_locator(const LoadOptions& options) const {
  require_memory_layout(manifest_, path_.string());
  const GraphGeometry geometry = manifest_.graph_geometry();
  if (!needs_offset_table(geometry.kind)) return GraphLocator(geometry);
  return GraphLocator(geometry, load_offset_table(options));
}

Centroids IndexDirectory::load_centroids(const LoadOptions& options) const {
  return parse_centroids(load_region(kCentroidsRegion, options).span(), manifest_.centroids_shape(),
                         region_path(kCentroidsRegion).string());
}

ClusterLocator IndexDirectory::load_cluster_locator(const LoadOptions& options) const {
  return parse_cluster_table(load_region(kClustersRegion, options), manifest_);
}

PageMap IndexDirectory::load_page_map(const LoadOptions& options) const {
  const SlottedGeometry geometry = manifest_.slotted_geometry();
  return PageMap(load_region(kPagesRegion, options), geometry, region_path(kPagesRegion).string());
}

EntryGraph IndexDirectory::load_entry_graph(const LoadOptions& options) const {
  const EntryGraphShape& shape = manifest_.slotted().entries;
  return EntryGraph(load_region(kEntriesRegion, options), shape, manifest_.count,
                    region_path(kEntriesRegion).string());
}

void IndexDirectory::verify(const LoadOptions& options) const {
  for (std::uint32_t region = 0; region < manifest_.regions.size(); ++region) {
    const InputFile file(region_path(region).string());
    require_header(manifest_.region(region), file);
    verify_region(manifest_.region(region), file, options);
  }
  if (!manifest_.is_slotted()) return;
  (void)load_entry_graph(options);
  (void)slotted_report(*this, options);
}

}  // namespace farvec::layout
