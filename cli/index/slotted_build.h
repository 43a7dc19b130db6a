// Declares the options of `farvec build graph --layout slotted`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/command_line.h"
#include "indexing/slotted_recipe.h"

namespace farvec::cli {

struct SlottedOptions {
  std::string payload = "auto";
  std::uint32_t extension_bits = 4;
  std::uint32_t page_bytes = 4096;
  std::string placement = "bnf";
  double affinity_percentile = slotted::kAffinityPercentile;
  std::string rerank = "auto";
  std::uint32_t entry_vertices = 0;  ///< 0: the usual share of the vertices
};

void add_slotted_options(Command& command, SlottedOptions& options);

/// Throws an Error that names the first option that was given and would be ignored: any of them
/// where `options` is null because the layout is another one, and those of the other kind of
/// payload.
void refuse_unused_slotted(const Command& command, const SlottedOptions* options);

/// Returns the recipe that the options ask for; "auto" is left open. `code_bits` are the bits for
/// payload vector. Throws Error for a word that is not understood.
indexing::SlottedRecipe slotted_recipe(const SlottedOptions& options,
                                       std::optional<std::uint32_t> code_bits);

/// Says on stderr what recall the recipe, whose "auto" are resolved, will not reach, and which
/// options would reach it.
void warn_of_slotted(const indexing::SlottedRecipe& recipe, std::uint32_t dimension);

/// Throws Error for options that make no sense.
void check_slotted_options(const SlottedOptions& options);

}  // namespace farvec::cli
