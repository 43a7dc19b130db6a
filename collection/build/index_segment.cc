#include "collection/build/index_segment.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "collection/build/segment_writer.h"
#include "layout/collection/index_attributes.h"
#include "layout/collection/segment_attributes.h"
#include "layout/index/index_copy.h"

namespace farvec::collection {
namespace {

using layout::CollectionManifest;
using layout::Manifest;
using layout::Schema;

/// Returns what all indexes of a collection have in common, in words.
std::string words_of(Metric metric, ElementType type, std::uint32_t dimension,
                     std::string_view layout) {
  return fmt::format("{} of {} x {} by {}", layout, dimension, to_string(type), to_string(metric));
}

std::string_view layout_of(const layout::CollectionOptions& options) {
  return options.kind == layout::IndexKind::graph ? to_string(options.layout)
                                                  : to_string(options.clusters.layout);
}

void require_fit(const Manifest& index, const CollectionManifest& collection,
                 const std::string& path) {
  const std::string has =
      words_of(index.metric, index.source_type, index.dimension, index.layout_name());
  const std::string wanted = words_of(collection.metric, collection.source_type,
                                      collection.dimension, layout_of(collection.options));
  if (has == wanted && index.stored_type == collection.stored_type) return;
  throw Error("the index '{}' is {}, and the segments of the collection are {}", path, has, wanted);
}

/// Throws unless the columns are the first ones of the collection's, and the others may be null.
void require_columns(const Schema& has, const Schema& wanted, const std::string& path) {
  const auto& columns = wanted.columns();
  const bool fits = wanted.begins_with(has) &&
                    std::all_of(columns.begin() + static_cast<std::ptrdiff_t>(has.size()),
                                columns.end(), [](const auto& column) { return column.nullable; });
  if (fits) return;
  throw Error("the attributes of the index '{}' are '{}', and those of the collection are '{}'",
              path, to_string(has), to_string(wanted));
}

layout::Tuples attributes_of(const layout::IndexDirectory& index, const Schema& schema) {
  const Manifest& manifest = index.manifest();
  const std::optional<Schema> own = layout::read_index_schema(index.path(), manifest);
  require_columns(own.value_or(Schema()), schema, index.path().string());
  if (own) {
    const layout::SegmentAttributesFile file(index.path() / layout::kSegmentAttributesFile,
                                             layout::attributes_entry(manifest));
    return file.read(*own);
  }
  layout::Tuples nulls;
  for (std::uint64_t row = 0; row < manifest.count && !schema.empty(); ++row) {
    nulls.append(layout::null_tuple());
  }
  return nulls;
}

std::vector<std::uint64_t> ids_from(std::uint64_t first_id, std::uint64_t rows) {
  if (first_id > std::numeric_limits<std::uint64_t>::max() - rows) {
    throw Error("the last id would have more than 64 bits: {} rows from {} on", rows, first_id);
  }
  std::vector<std::uint64_t> ids(rows);
  std::iota(ids.begin(), ids.end(), first_id);
  return ids;
}

}  // namespace

std::shared_ptr<Segment> copy_segment(const layout::IndexDirectory& index, std::uint64_t first_id,
                                      const SegmentRecipe& recipe) {
  if (index.manifest().second_copy) {
    throw Error(
        "the index '{}' has fewer bits than its data: a collection takes one whose vectors "
        "are whole",
        index.path().string());
  }
  if (recipe.manifest->options.store) {
    throw Error(
        "the index '{}' has its vectors themselves, and the segments of the collection have "
        "second copies of theirs ({}): insert the vectors",
        index.path().string(), to_string(recipe.manifest->options.store->type));
  }
  require_fit(index.manifest(), *recipe.manifest, index.path().string());
  const std::vector<std::uint64_t> ids = ids_from(first_id, index.manifest().count);
  const layout::Tuples attributes = attributes_of(index, *recipe.schema);
  if (recipe.publisher != nullptr) recipe.publisher->require_node();
  return write_segment(
      [&](const layout::WriteOptions& options) {
        (void)layout::copy_index(index, recipe.folder, options);
      },
      {ids, attributes.view()}, recipe);
}

}  // namespace farvec::collection
