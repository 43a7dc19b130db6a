// These functions make a graph index in slotted pages, for SSDs, from rows: codes in one part or
// two, records packed into pages, and a graph of entries.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "indexing/graph_recipe.h"
#include "layout/pages/slotted_geometry.h"
#include "ssd_baseline/slotted/packing/affinity_threshold.h"
#include "ssd_baseline/slotted/packing/packing.h"

namespace farvec::indexing {

struct SlottedRecipe {
  /// What a record holds. None: a vector where two of them fit a page, else a code.
  std::optional<layout::PayloadKind> payload = std::nullopt;
  /// Bits per dimension in DRAM. For payload vector: 1 to 8, or 0 for the vectors themselves; none:
  /// as many as the data needs, usually 4. For payload code it is 1.
  std::optional<std::uint32_t> code_bits = std::nullopt;
  std::uint32_t extension_bits = 4;  ///< bits per dimension in the record, for payload code
  std::uint32_t page_bytes = 4096;
  slotted::PackingKind packing = slotted::PackingKind::bnf;
  /// Percentile, 0 to 100. A higher one makes more records affine; see
  /// slotted::affinity_threshold().
  double affinity_percentile = slotted::kAffinityPercentile;
  /// Whether the vectors are stored too, to rank results again. None: they are where records hold
  /// codes.
  std::optional<bool> rerank = std::nullopt;
  std::uint32_t entry_vertices = 0;  ///< 0: as many as pay

  /// Packs the records in the order of the rows.
  void pack_in_order() { packing = slotted::PackingKind::id; }
};

/// Throws StatusError (invalid_argument) for numbers that no slotted pages can have. It is called
/// at the beginning of a long build.
void check_slotted(const SlottedRecipe& recipe);

/// Returns the recipe with what is left open decided for rows like these. With many dimensions, one
/// bit of each in DRAM leads searches well; with few, a vector is hardly larger than its code.
SlottedRecipe resolve_slotted(SlottedRecipe recipe, const VectorView& rows);

/// Returns the smallest size of pages in which every record fits, whatever the rows are, of which
/// only count, dimension and type are used. The recipe is resolved, and its own size of pages does
/// not count. None: there is no such size.
std::optional<std::uint32_t> sufficient_page_bytes(const SlottedRecipe& recipe,
                                                   const VectorView& rows, std::uint32_t degree);

/// Builds a graph that remembers which vertices belong together, so that write_slotted() packs them
/// by it and gives them colors. Sets options.affinity itself. Throws Error for options that make no
/// sense, and when no record fits a page.
BuiltGraph build_slotted_graph(Source source, const SlottedRecipe& recipe,
                               graph::VamanaOptions options);

/// Encodes, packs and writes any built graph. Returns the manifest as written. Throws Error where
/// layout::write_index() does; then nothing is left on disk.
layout::Manifest write_slotted(const std::filesystem::path& directory, const BuiltGraph& built,
                               const SlottedRecipe& recipe, const layout::WriteOptions& options);

}  // namespace farvec::indexing
