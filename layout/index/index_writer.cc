#include "layout/index/index_writer.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "layout/graph/record_encoder.h"
#include "layout/index/directory_lock.h"
#include "layout/index/index_files.h"
#include "layout/index/index_publisher.h"
#include "layout/index/partial_directory.h"
#include "layout/index/region_file.h"

namespace farvec::layout {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kRecordBatchBytes = std::size_t{32} << 20;
constexpr std::size_t kEncodeRun = 256;

void fill_in(Manifest& manifest, const IndexContents& contents) {
  const AdjacencyView& edges = contents.records.graph;
  manifest.count = edges.count;
  manifest.dimension = contents.records.vectors.dimension;
  manifest.stored_type = contents.records.vectors.type;
  GraphDescription& graph = manifest.graph();
  graph.entry = edges.entry;
  graph.edges = std::accumulate(edges.degrees, edges.degrees + edges.count, std::uint64_t{0});
  graph.build.code_bits = contents.codes.header.bits;
  manifest.regions.clear();
}

void require_contents(const Manifest& manifest, const IndexContents& contents) {
  const CodesView& codes = contents.codes;
  const AdjacencyView& graph = contents.records.graph;
  FARVEC_CHECK(graph.entry < graph.count, "entry {}", graph.entry);
  FARVEC_CHECK(
      codes.header.count <= manifest.count && codes.header.dimension == manifest.dimension &&
          codes.header.metric == manifest.metric && codes.header.type == manifest.stored_type &&
          codes.records.size() == codes.header.count * codes.header.record_bytes,
      "the codes are not those of the vectors");
}

std::uint64_t needed_bytes(const GraphLocator& locator, const CodesView& codes) {
  const std::uint64_t payload = locator.region_bytes() + codes.header.payload_bytes() +
                                OffsetTable::table_bytes(locator.geometry().count);
  return payload + bytes_beside_payload(payload);
}

RegionEntry write_records(const fs::path& directory, const GraphLocator& locator,
                          const RecordEncoder& encoder, const WriteOptions& options) {
  RegionFile file(directory, records_kind(locator.geometry().kind), options.on_chunk);
  const std::size_t count = locator.geometry().count;
  const std::size_t batch =
      std::max(kRecordBatchBytes / locator.geometry().max_record_bytes(), kEncodeRun);
  Progress progress("writing records", count, options.quiet, options.interrupted);
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

RegionEntry write_offsets(const fs::path& directory, const OffsetTable& table,
                          const OnChunk& on_chunk) {
  RegionFile file(directory, RegionKind::offsets, on_chunk);
  file.append(table.bytes());
  return file.publish();
}

}  // namespace

void check_destination(const fs::path& directory, bool overwrite, std::uint64_t least_bytes) {
  const PartialDirectory partial(directory, overwrite);
  require_room(directory, least_bytes);
}

Manifest write_index(const fs::path& directory, Manifest manifest, const IndexContents& contents,
                     const WriteOptions& options) {
  fill_in(manifest, contents);
  require_contents(manifest, contents);
  OffsetTable offsets = make_offset_table(manifest.graph_geometry(), contents.records.graph);
  if (manifest.graph().layout == LayoutKind::packed) manifest.graph().list_bytes = offsets.total();
  // The padded layout keeps its table on disk too: inspect needs every degree.
  const GraphLocator locator(manifest.graph_geometry(), std::move(offsets));
  const RecordEncoder encoder(locator, contents.records);
  return publish_index(directory, std::move(manifest), options.overwrite,
                       needed_bytes(locator, contents.codes), [&](const fs::path& partial) {
                         return std::vector<RegionEntry>{
                             write_records(partial, locator, encoder, options),
                             write_codes(partial, contents.codes, options.on_chunk),
                             write_offsets(partial, locator.table(), options.on_chunk)};
                       });
}

void write_placement(const fs::path& directory,
                     const std::function<std::optional<Placement>(const IndexDirectory&)>& place) {
  (void)IndexDirectory::open(directory);  // says what is wrong with something that is no index
  const fs::path own_path = fs::canonical(directory);
  const DirectoryLock lock(own_path);
  const IndexDirectory index = IndexDirectory::open(own_path);
  Manifest manifest = index.manifest();
  require_memory_layout(manifest, directory.string());
  manifest.placement = place(index);
  FARVEC_CHECK(!manifest.placement ||
               manifest.placement->regions.size() == manifest.held_regions());
  write_manifest(own_path, manifest);
  remove_unused_regions(own_path, manifest);
}

}  // namespace farvec::layout
