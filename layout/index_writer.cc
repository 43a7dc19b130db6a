#include "layout/index_writer.h"

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "layout/index_directory.h"
#include "layout/partial_directory.h"
#include "layout/record_encoder.h"
#include "layout/region_file.h"

namespace farvec::layout {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBatchBytes = std::size_t{32} << 20;
constexpr std::size_t kEncodeRun = 256;

void fill_in(Manifest& manifest, const IndexContents& contents, const OffsetTable& table) {
  manifest.count = contents.graph.count;
  manifest.dimension = contents.vectors.dimension;
  manifest.stored_type = contents.vectors.type;
  manifest.normalised = manifest.metric == Metric::cosine;
  manifest.entry = contents.graph.entry;
  manifest.edges = table.total_edges();
  manifest.build.code_bits = contents.codes.header.bits;
  manifest.regions.clear();
}

void require_contents(const Manifest& manifest, const IndexContents& contents) {
  const CodesView& codes = contents.codes;
  FARVEC_CHECK(contents.graph.entry < contents.graph.count, "entry {}", contents.graph.entry);
  FARVEC_CHECK(
      codes.header.count == manifest.count && codes.header.dimension == manifest.dimension &&
          codes.header.metric == manifest.metric && codes.header.type == manifest.stored_type &&
          codes.records.size() == codes.header.count * codes.header.record_bytes,
      "the codes are not those of the vectors");
}

std::uint64_t needed_bytes(const GraphLocator& locator, const CodesView& codes) {
  const std::uint64_t payload = locator.region_bytes() + codes.header.payload_bytes() +
                                OffsetTable::table_bytes(locator.geometry().count);
  constexpr std::uint64_t kManifestBytes = 16384;
  constexpr std::uint64_t kChecksumBytes = 32;  // in the manifest, per chunk
  return payload + kRegionCount * kRegionHeaderBytes + kManifestBytes +
         payload / kChunkBytes * kChecksumBytes;
}

void require_room(const fs::path& directory, std::uint64_t needed) {
  const fs::path parent = parent_of(directory);
  const std::uint64_t free = free_bytes(parent);
  if (free >= needed) return;
  throw Error("the index '{}' needs {} bytes, '{}' has {} free: free some or choose another disk",
              directory.string(), needed, parent.string(), free);
}

RegionEntry write_records(const fs::path& directory, const GraphLocator& locator,
                          const RecordEncoder& encoder, const WriteOptions& options) {
  RegionFile file(directory, records_kind(locator.geometry().kind));
  const std::size_t count = locator.geometry().count;
  const std::size_t batch =
      std::max(kBatchBytes / locator.geometry().max_record_bytes(), kEncodeRun);
  Progress progress("writing records", count, options.quiet);
  std::vector<std::byte> buffer;
  for (std::size_t begin = 0; begin < count; begin += batch) {
    const std::size_t length = std::min(batch, count - begin);
    const std::uint64_t origin = locator.begin_of(begin);
    buffer.resize(encoder.bytes_of(begin, begin + length));
    parallel_for(length, kEncodeRun, resolve_threads(options.threads),
                 [&](std::size_t first, std::size_t last, unsigned) {
                   const std::size_t from = begin + first;
                   const std::size_t to = begin + last;
                   encoder.encode(from, to,
                                  std::span(buffer).subspan(locator.begin_of(from) - origin,
                                                            encoder.bytes_of(from, to)));
                 });
    file.append(buffer);
    progress.advance(length);
  }
  return file.publish();
}

RegionEntry write_codes(const fs::path& directory, const CodesView& codes) {
  RegionFile file(directory, RegionKind::codes);
  file.append(encode_codes_preamble(codes));
  file.append(codes.records);
  return file.publish();
}

RegionEntry write_offsets(const fs::path& directory, const OffsetTable& table) {
  RegionFile file(directory, RegionKind::offsets);
  file.append(table.bytes());
  return file.publish();
}

void write_manifest(const fs::path& path, const Manifest& manifest) {
  const std::string text = manifest_to_json(manifest);
  WritableFile file(path);
  file.write_at(0, std::as_bytes(std::span(text)));
  file.sync();
}

[[noreturn]] void explain_full_disk(const SystemError& error, const fs::path& directory,
                                    std::uint64_t needed, std::uint64_t free) {
  throw Error(
      "{}; the index '{}' needs {} bytes, {} are free now that the partial output "
      "has been removed",
      error.what(), directory.string(), needed, free);
}

}  // namespace

void check_destination(const fs::path& directory, bool overwrite, std::uint64_t least_bytes) {
  const PartialDirectory partial(directory, overwrite);
  require_room(directory, least_bytes);
}

Manifest write_index(const fs::path& directory, Manifest manifest, const IndexContents& contents,
                     const WriteOptions& options) {
  OffsetTable offsets = make_offset_table(contents.graph);
  fill_in(manifest, contents, offsets);
  require_contents(manifest, contents);
  // The padded layout keeps its table on disk too: inspect needs every degree.
  const GraphLocator locator(manifest.geometry(), std::move(offsets));
  const RecordEncoder encoder(locator, contents.graph, contents.vectors);
  const std::uint64_t needed = needed_bytes(locator, contents.codes);
  require_room(directory, needed);
  try {
    PartialDirectory partial(directory, options.overwrite);
    manifest.regions = {write_records(partial.path(), locator, encoder, options),
                        write_codes(partial.path(), contents.codes),
                        write_offsets(partial.path(), locator.table())};
    write_manifest(partial.path() / kManifestFile, manifest);
    partial.publish();
  } catch (const SystemError& error) {
    if (error.code != ENOSPC && error.code != EDQUOT && error.code != EFBIG) throw;
    explain_full_disk(error, directory, needed, free_bytes(parent_of(directory)));
  }
  return manifest;
}

void write_placement(const fs::path& directory, std::optional<Placement> placement) {
  Manifest manifest = IndexDirectory::open(directory).manifest();
  manifest.placement = std::move(placement);
  const fs::path replacement = directory / (std::string(kManifestFile) + ".new");
  fs::remove(replacement);  // of one who was killed
  try {
    write_manifest(replacement, manifest);
    fs::rename(replacement, directory / kManifestFile);
  } catch (...) {
    std::error_code ignored;
    fs::remove(replacement, ignored);
    throw;
  }
  sync_directory(directory);
}

}  // namespace farvec::layout
