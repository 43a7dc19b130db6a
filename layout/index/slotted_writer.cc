#include "layout/index/slotted_writer.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "layout/index/index_publisher.h"
#include "layout/index/region_file.h"
#include "layout/pages/page_map.h"

namespace farvec::layout {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBatchBytes = std::size_t{32} << 20;
constexpr std::size_t kPageRun = 16;

void fill_in(Manifest& manifest, const SlottedContents& contents) {
  manifest.count = contents.graph.count;
  manifest.dimension = contents.vectors.dimension;
  manifest.stored_type = contents.vectors.type;
  GraphDescription& graph = manifest.graph();
  graph.entry = contents.graph.entry;
  graph.edges = std::accumulate(contents.graph.degrees,
                                contents.graph.degrees + contents.graph.count, std::uint64_t{0});
  graph.build.code_bits = contents.codes.header.bits;
  SlottedDescription& slotted = manifest.slotted();
  slotted.pages = static_cast<std::uint32_t>(contents.plan.pages());
  const AdjacencyView& entries = contents.entries.graph;
  slotted.entries = {
      static_cast<std::uint32_t>(entries.count),
      std::max(*std::max_element(entries.degrees, entries.degrees + entries.count), 1u),
      entries.entry};
  manifest.regions.clear();
}

void require_contents(const Manifest& manifest, const SlottedContents& contents) {
  const CodesHeader& codes = contents.codes.header;
  FARVEC_CHECK(contents.graph.entry < contents.graph.count, "entry {}", contents.graph.entry);
  FARVEC_CHECK(contents.vectors.count == manifest.count, "{} vectors", contents.vectors.count);
  FARVEC_CHECK(codes.count == manifest.count && codes.dimension == manifest.dimension &&
                   codes.metric == manifest.metric && codes.type == manifest.stored_type &&
                   codes.extension_bits == manifest.slotted().extension_bits &&
                   contents.codes.records.size() == codes.count * codes.record_bytes,
               "the codes are not those of the vectors");
}

std::uint64_t needed_bytes(const Manifest& manifest, const CodesView& codes) {
  std::uint64_t payload = manifest.slotted_geometry().region_bytes() +
                          codes.header.payload_bytes() + PageMap::payload_bytes(manifest.count) +
                          manifest.slotted().entries.payload_bytes();
  if (manifest.slotted().rerank) payload += manifest.count * manifest.vector_bytes();
  return payload + bytes_beside_payload(payload);
}

RegionEntry write_pages(const fs::path& directory, const SlottedGeometry& geometry,
                        const PageEncoder& encoder, const WriteOptions& options) {
  RegionFile file(directory, RegionKind::records_slotted);
  const std::size_t batch = kBatchBytes / geometry.page_bytes;
  Progress progress("writing pages", geometry.pages, options.quiet, options.interrupted);
  std::vector<std::byte> buffer;
  for (std::size_t begin = 0; begin < geometry.pages; begin += batch) {
    const std::size_t length = std::min<std::size_t>(batch, geometry.pages - begin);
    buffer.resize(length * geometry.page_bytes);
    parallel_for(length, kPageRun, resolve_threads(options.threads),
                 [&](std::size_t first, std::size_t last, unsigned) {
                   encoder.encode(begin + first, begin + last,
                                  std::span(buffer).subspan(first * geometry.page_bytes,
                                                            (last - first) * geometry.page_bytes));
                 });
    file.append(buffer);
    progress.advance(length);
  }
  return file.publish();
}

RegionEntry write_vectors(const fs::path& directory, const VectorView& vectors) {
  RegionFile file(directory, RegionKind::vectors);
  for (std::size_t row = 0; row < vectors.count; ++row) {
    file.append({vectors.row(row), vectors.row_bytes()});
  }
  return file.publish();
}

RegionEntry write_map(const fs::path& directory, const std::vector<std::uint32_t>& pages) {
  RegionFile file(directory, RegionKind::pages);
  file.append(std::as_bytes(std::span(pages)));
  return file.publish();
}

RegionEntry write_entries(const fs::path& directory, const SampledGraphView& entries,
                          std::uint32_t degree) {
  RegionFile file(directory, RegionKind::entries);
  const AdjacencyView& graph = entries.graph;
  file.append(std::as_bytes(entries.ids));
  file.append(std::as_bytes(std::span(graph.degrees, graph.count)));
  std::vector<NodeId> row(degree);
  for (std::size_t v = 0; v < graph.count; ++v) {
    std::fill(std::copy_n(graph.row(v), graph.degrees[v], row.begin()), row.end(), NodeId{0});
    file.append(std::as_bytes(std::span(row)));
  }
  return file.publish();
}

}  // namespace

Manifest write_slotted_index(const fs::path& directory, Manifest manifest,
                             const SlottedContents& contents, const WriteOptions& options) {
  fill_in(manifest, contents);
  require_contents(manifest, contents);
  const SlottedGeometry geometry = manifest.slotted_geometry();
  geometry.validate();
  const bool rerank = manifest.slotted().rerank;
  const std::uint64_t needed = needed_bytes(manifest, contents.codes);
  const std::vector<std::uint32_t> pages = pages_of(contents.plan, contents.costs);
  const PageEncoder encoder(geometry, contents.graph, contents.payloads, contents.plan);
  const auto write_regions = [&](const fs::path& partial) {
    std::vector<RegionEntry> regions{
        write_pages(partial, geometry, encoder, options), write_codes(partial, contents.codes),
        write_map(partial, pages),
        write_entries(partial, contents.entries, manifest.slotted().entries.degree)};
    if (rerank) regions.push_back(write_vectors(partial, contents.vectors));
    return regions;
  };
  return publish_index(directory, std::move(manifest), options.overwrite, needed, write_regions);
}

}  // namespace farvec::layout
