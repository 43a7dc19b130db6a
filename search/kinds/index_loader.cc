#include "search/kinds/index_loader.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "base/clock.h"
#include "base/error.h"
#include "graph/listed_graph.h"
#include "layout/collection/index_attributes.h"
#include "layout/collection/segment_attributes.h"
#include "search/core/index_kinds.h"
#include "search/index/row_attributes.h"
#include "search/index/second_copy.h"

namespace farvec::search {
graph::Graph centroid_graph(const layout::Centroids& centroids) {
  const layout::CentroidsHeader& header = centroids.header;
  return graph::listed_graph(centroids.degrees, centroids.neighbors, header.max_degree,
                             header.entry);
}

namespace {

/// Reads the attributes of the index's rows, and where each row is, where there are some.
void load_attributes(const layout::IndexDirectory& directory, const layout::LoadOptions& options,
                     SearchIndex& index) {
  const std::filesystem::path& folder = directory.path();
  const layout::Manifest& manifest = directory.manifest();
  const std::optional<layout::Schema> schema = layout::read_index_schema(folder, manifest);
  if (!schema) return;
  auto file = std::make_unique<const layout::SegmentAttributesFile>(
      folder / layout::kSegmentAttributesFile, layout::attributes_entry(manifest));
  const layout::Tuples all = file->read(*schema);
  index.set_attributes(std::make_shared<const RowAttributes>(std::move(file), all.view(), *schema));
  if (!index.must_find_rows()) return;
  index.find_rows(directory.load_region(layout::kRecordsRegion, options).span());
}

void load_second_copy(const layout::IndexDirectory& directory, SearchIndex& index) {
  const layout::Manifest& manifest = directory.manifest();
  if (!manifest.second_copy) return;
  auto file = std::make_shared<const layout::SecondCopyFile>(directory.path(), manifest);
  index.set_second(std::make_shared<const SecondCopy>(std::move(file), manifest));
}

/// Reads what the second copy is, where the index has one. Its rows stay on the nodes.
void fetch_second_copy(const layout::Manifest& manifest, transport::Endpoint& endpoint,
                       const FetchBound& bound, SearchIndex& index) {
  if (!manifest.second_copy) return;
  const std::uint64_t bytes = layout::second_copy_geometry(manifest).offset_of(0);
  const HugeBuffer begin = fetch_bytes(layout::kSecondCopyRegion, bytes, endpoint, bound);
  index.set_second(std::make_shared<const SecondCopy>(
      layout::SecondCopyForm(begin.span(), manifest,
                             fmt::format("the second copy on {}", endpoint.description())),
      manifest));
}

}  // namespace

SearchIndex load_search_index(const layout::IndexDirectory& directory,
                              const layout::LoadOptions& options) {
  SearchIndex index = std::visit(
      [&](const auto& description) -> SearchIndex {
        return load_kind(directory, description, options);
      },
      directory.manifest().description);
  load_attributes(directory, options, index);
  load_second_copy(directory, index);
  return index;
}

SearchIndex fetch_search_index(const layout::Manifest& manifest, transport::Endpoint& endpoint,
                               const FetchOptions& options) {
  layout::require_memory_layout(manifest, endpoint.description());
  std::uint64_t bytes = 0;
  for (const layout::RegionEntry& region : manifest.regions) bytes += region.file_bytes();
  // The records, which stay where they are.
  bytes -= manifest.region(layout::kRecordsRegion).file_bytes();
  const double seconds =
      options.deadline_seconds + static_cast<double>(bytes) / options.least_bytes_per_second;
  const FetchBound bound{now_ticks() + us_to_ticks(seconds * 1e6), options.stop, options.on_bytes};
  SearchIndex index = std::visit(
      [&](const auto& description) { return fetch_kind(manifest, description, endpoint, bound); },
      manifest.description);
  if (manifest.placement) check_placement(*manifest.placement, index);
  fetch_second_copy(manifest, endpoint, bound, index);
  return index;
}

void check_placement(const layout::Placement& placement, const SearchIndex& index) {
  index.visit_records([&](const auto& own) { check_records(placement, own.locator()); });
}

}  // namespace farvec::search
