#include "collection/build/page_recipe.h"

#include "base/check.h"
#include "base/status_error.h"

namespace farvec::collection {

indexing::SlottedRecipe page_recipe(const layout::CollectionManifest& manifest,
                                    const layout::SpellOption& spell) {
  const layout::CollectionOptions& options = manifest.options;
  const VectorView rows{.count = layout::kMostSegmentRows,
                        .dimension = manifest.dimension,
                        .type = manifest.segment_type()};
  indexing::SlottedRecipe asked{.code_bits = options.code_bits};
  // Bits have no codes to put into small pages.
  if (rows.type == ElementType::b1) asked.page_bytes = layout::SlottedGeometry::kMostPageBytes;
  const indexing::SlottedRecipe recipe = indexing::resolve_slotted(asked, rows);
  if (recipe.payload == layout::PayloadKind::code && options.code_bits) {
    throw StatusError(
        StatusCode::invalid_argument,
        "{}: records of {} x {} hold codes of 1 + {} bits, of which one is in memory: "
        "leave it out",
        spell("code_bits"), manifest.dimension, to_string(manifest.segment_type()),
        recipe.extension_bits);
  }
  const std::optional<std::uint32_t> pages =
      indexing::sufficient_page_bytes(recipe, rows, options.degree);
  FARVEC_CHECK(pages, "the largest degree and dimension fit the largest pages");
  indexing::SlottedRecipe fitting = recipe;
  fitting.page_bytes = *pages;
  return fitting;
}

}  // namespace farvec::collection
