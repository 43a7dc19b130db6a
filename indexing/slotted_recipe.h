// From rows to a graph index in slotted pages, for SSDs: codes in one part or two, records packed
// into pages, a graph of entries.
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
  /// Of the records. None: a vector where two fit a page, else a code.
  std::optional<layout::PayloadKind> payload = std::nullopt;
  /// Per dimension in DRAM, of payload vector: 1 to 8, or 0 for the vectors themselves; none: as
  /// many as the data needs, usually 4. Of a code 1.
  std::optional<std::uint32_t> code_bits = std::nullopt;
  std::uint32_t extension_bits = 4;  ///< per dimension in the record, of payload code
  std::uint32_t page_bytes = 4096;
  slotted::PackingKind packing = slotted::PackingKind::bnf;
  /// 0 to 100: more makes more records affine; see slotted::affinity_threshold().
  double affinity_percentile = slotted::kAffinityPercentile;
  /// Whether the vectors are stored too, to rank results again. None: beside codes.
  std::optional<bool> rerank = std::nullopt;
  std::uint32_t entry_vertices = 0;  ///< 0: as many as pay
};

/// For the beginning of a long build: throws StatusError (invalid_argument) for numbers that no
/// slotted pages can have.
void check_slotted(const SlottedRecipe& recipe);

/// The same with what is left open decided for such rows. One bit of every dimension in DRAM leads
/// searches well when there are many dimensions, and with few a vector is hardly more than its
/// code.
SlottedRecipe resolve_slotted(SlottedRecipe recipe, const VectorView& rows);

/// A graph that remembers which vertices belong together, so that write_slotted() packs them by it
/// and gives them colors. Sets options.affinity. Throws Error for options that make no sense, and
/// when no record fits a page.
BuiltGraph build_slotted_graph(Source source, const SlottedRecipe& recipe,
                               graph::VamanaOptions options);

/// Encodes, packs and writes any built graph. Returns the manifest as written. Throws Error as
/// layout::write_index() does; then nothing is left behind.
layout::Manifest write_slotted(const std::filesystem::path& directory, const BuiltGraph& built,
                               const SlottedRecipe& recipe, const layout::WriteOptions& options);

}  // namespace farvec::indexing
