#include "cli/index/slotted_build.h"

#include <fmt/format.h>

#include <cstdio>
#include <vector>

#include "base/command_line.h"
#include "base/error.h"
#include "base/option_rules.h"
#include "base/quantity.h"
#include "ssd_baseline/slotted/packing/packing.h"

namespace farvec::cli {
namespace {

/// Below this number of dimensions, codes of one bit order candidates so badly that searches go
/// astray: recall@10 at L = 64 is 0.93, 0.90 and 0.88 with 96, 128 and 100 dimensions. Two bits
/// give 0.997, 0.987 and 0.983, the recall of exact distances (docs/use/ssd-search.md). A bit more
/// is worth four times the dimensions.
constexpr std::uint32_t kOneBitDimensions = 384;

}  // namespace

void add_slotted_options(Command& command, SlottedOptions& options) {
  command
      .add_option("--payload", options.payload,
                  "slotted: what a record holds beside its neighbours, code or vector; auto:\n"
                  "vector where two fit a page, else code")
      .show_default();
  command
      .add_option("--bits", options.extension_bits,
                  "slotted, --payload code: bits per dimension in the record, 1 to 7; together "
                  "with\n1 bit in DRAM they rank what a search has read")
      .show_default();
  command.add_option("--page-bytes", options.page_bytes, "slotted: 4096, 8192 or 16384 (4KiB, ...)")
      .size()
      .show_default();
  command
      .add_option(
          "--placement", options.placement,
          "slotted: which records share a page: affinity (near each other), bnf (neighbours "
          "in the graph), id")
      .show_default();
  command
      .add_option("--affinity-percentile", options.affinity_percentile,
                  "slotted: records are affine that are at most as far from each other as this\n"
                  "percentile of the vectors of a cluster is from its centroid")
      .show_default();
  command
      .add_option("--rerank", options.rerank,
                  "slotted, --payload code: on stores the vectors too, so that searches can rank\n"
                  "their results by exact distance; auto: on")
      .show_default();
  command.add_option("--entry-vertices", options.entry_vertices,
                     "slotted: vertices of the graph in DRAM that finds where searches start\n"
                     "[one of 32]");
}

void refuse_unused_slotted(const Command& command, const SlottedOptions* options) {
  std::vector<OptionRule> rules;
  for (const char* option : {"--payload", "--bits", "--page-bytes", "--placement",
                             "--affinity-percentile", "--rerank", "--entry-vertices"}) {
    rules.push_back({option, options != nullptr, "--layout slotted"});
  }
  if (options != nullptr) {
    const bool code = options->payload == "code";
    const std::string is = "; --payload is " + options->payload +
                           (options->payload == "auto" ? ", which may choose vectors" : "");
    rules.push_back({"--bits", code, "--payload code, whose records have them" + is});
    rules.push_back(
        {"--rerank", code, "--payload code; a vector in the record ranks exactly" + is});
    rules.push_back({"--code-bits", options->payload == "vector",
                     "csr, padded and --payload vector; codes in records have 1 bit in DRAM, and "
                     "--bits in the record" +
                         is});
  }
  refuse_unused(command, rules);
}

indexing::SlottedRecipe slotted_recipe(const SlottedOptions& options,
                                       std::optional<std::uint32_t> code_bits) {
  indexing::SlottedRecipe recipe;
  if (options.payload != "auto") recipe.payload = layout::parse_payload_kind(options.payload);
  recipe.code_bits = code_bits;
  recipe.extension_bits = options.extension_bits;
  recipe.page_bytes = options.page_bytes;
  recipe.packing = slotted::parse_packing_kind(options.placement);
  recipe.affinity_percentile = options.affinity_percentile;
  if (options.rerank != "auto") recipe.rerank = options.rerank == "on";
  recipe.entry_vertices = options.entry_vertices;
  return recipe;
}

void warn_of_slotted(const indexing::SlottedRecipe& recipe, std::uint32_t dimension) {
  const bool code = recipe.payload == layout::PayloadKind::code;
  if ((code || recipe.code_bits == 1) && dimension < kOneBitDimensions) {
    fmt::print(stderr,
               "warning: 1-bit codes of {} dimensions lead searches astray: recall@10 stays below "
               "0.95 at lists that reach 0.99 with --payload vector --code-bits 4\n",
               dimension);
  }
  if (code && recipe.rerank == false) {
    fmt::print(stderr,
               "warning: without --rerank on, results are in the order of their codes: recall@10 "
               "stays below about 0.97\n");
  }
}

void check_slotted_options(const SlottedOptions& options) {
  if (options.rerank != "on" && options.rerank != "off" && options.rerank != "auto") {
    throw Error("--rerank {} is not understood: use on, off or auto", options.rerank);
  }
  indexing::check_slotted(slotted_recipe(options, 1));
}

}  // namespace farvec::cli
