// farvec build graph --layout slotted: its options.
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
  std::uint32_t entry_vertices = 0;  ///< 0: as many as pay
};

void add_slotted_options(Command& command, SlottedOptions& options);

/// Throws Error naming the first option that was given and would be ignored: all of them, where
/// `options` is null because the layout is another one, and those of the other kind of payload.
void refuse_unused_slotted(const Command& command, const SlottedOptions* options);

/// What they ask for; "auto" is left open. `code_bits` are those of payload vector. Throws Error
/// for a word that is none.
indexing::SlottedRecipe slotted_recipe(const SlottedOptions& options,
                                       std::optional<std::uint32_t> code_bits);

/// Says on stderr what recall the recipe, which is resolved, will not reach, and which would.
void warn_of_slotted(const indexing::SlottedRecipe& recipe, std::uint32_t dimension);

/// Throws Error for options that make no sense.
void check_slotted_options(const SlottedOptions& options);

}  // namespace farvec::cli
