// The command `farvec regroup` writes a cluster index again, grouped by how often its clusters are
// probed.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "base/command_line.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/version.h"
#include "cli/commands.h"
#include "indexing/cluster_recipe.h"
#include "indexing/regroup_recipe.h"
#include "indexing/stored_clusters.h"
#include "layout/collection/index_companions.h"
#include "layout/index/index_directory.h"
#include "measure/report/json_text.h"
#include "quantization/neighbor_codes.h"
#include "search/searchers/probe_counts.h"

namespace farvec::cli {
namespace {

struct RegroupArguments {
  std::string index;
  std::string frequencies;
  std::string out;
  std::string layout;
  std::uint32_t code_bits = 0;
  unsigned threads = 0;
  bool overwrite = false;
  bool quiet = false;
  bool json = false;
};

void report(const RegroupArguments& arguments, const layout::Manifest& manifest,
            const indexing::Regrouping& outcome) {
  if (arguments.json) {
    const nlohmann::ordered_json facts{{"index", arguments.out},
                                       {"layout", manifest.layout_name()},
                                       {"vectors", manifest.count},
                                       {"moved", outcome.moved},
                                       {"requests_before", outcome.requests_before},
                                       {"requests_after", outcome.requests_after},
                                       {"request_cut", outcome.cut()},
                                       {"peak_memory_bytes", peak_resident_bytes()},
                                       {"commit", commit()}};
    fmt::print("{}\n", measure::json_text(facts));
    return;
  }
  fmt::print(
      "{}: {} of {} vectors have a new home\n"
      "the counted probes need {} requests instead of {} ({:.1f}% fewer), before what one query\n"
      "saves by reading nothing twice\n",
      arguments.out, outcome.moved, manifest.count, outcome.requests_after, outcome.requests_before,
      100 * outcome.cut());
}

/// Returns the recipe of the index, changed where the arguments say so.
indexing::ClusterRecipe recipe_for(const RegroupArguments& arguments,
                                   const layout::ClusterGeometry& geometry) {
  indexing::ClusterRecipe recipe = indexing::recipe_of(geometry);
  if (!arguments.layout.empty()) recipe.layout = layout::parse_cluster_layout(arguments.layout);
  if (arguments.code_bits == 0) return recipe;
  if (recipe.layout != layout::ClusterLayoutKind::coded) {
    throw Error("--code-bits: layout {} has no codes; --layout coded has",
                to_string(recipe.layout));
  }
  recipe.code_bits = arguments.code_bits;
  return recipe;
}

void regroup(const RegroupArguments& arguments) {
  const auto index = layout::IndexDirectory::open(arguments.index);
  const layout::Manifest& manifest = index.manifest();
  const auto counts = search::read_probe_counts(arguments.frequencies, manifest);
  layout::check_companions(index, arguments.out);
  layout::check_destination(arguments.out, arguments.overwrite,
                            manifest.region(layout::kRecordsRegion).file_bytes());
  const unsigned threads = resolve_threads(arguments.threads);
  indexing::StoredClusters stored =
      indexing::read_clusters(index, {.threads = threads, .quiet = arguments.quiet});
  indexing::Regrouping regrouping = indexing::regroup(stored, counts, threads);
  const indexing::ClusterRecipe recipe = recipe_for(arguments, manifest.cluster().geometry);
  const layout::Manifest written = indexing::write_clusters(
      arguments.out, std::move(stored).grouped(std::move(regrouping.homes)), recipe,
      {arguments.overwrite, threads, arguments.quiet});
  layout::copy_companions(index, arguments.out);
  report(arguments, written, regrouping);
}

}  // namespace

void register_regroup_command(Command& tool) {
  auto arguments = std::make_shared<RegroupArguments>();
  Command command = tool.add_command(
      "regroup", "Write a cluster index again, grouped by how often its clusters are probed");
  command.add_option("--index", arguments->index, "Index directory").required();
  command
      .add_option("--frequencies", arguments->frequencies,
                  "Counts of probes, from `farvec search --probe-counts` or, of compute nodes,\n"
                  "from `farvec probe-counts`")
      .required();
  command.add_option("--out", arguments->out, "Index directory to make").required();
  command.add_option("--layout", arguments->layout, "Another layout [the same]");
  command
      .add_option("--code-bits", arguments->code_bits,
                  "Layout coded: bits per dimension of the codes, 1 to 4 [the same, or 2]")
      .range(1u, std::uint32_t{quantization::NeighborCodes::kMostBits});
  command.add_option("--threads", arguments->threads, "0: one per processor");
  command.add_flag("--overwrite", arguments->overwrite, "Replace an index that is already there");
  command.add_flag("--quiet", arguments->quiet, "No progress");
  command.add_flag("--json", arguments->json, "Report as one JSON object");
  command.footer(
      "Every vector goes into the group of that of its clusters which is probed most. Clusters,\n"
      "answers and sizes stay as they are. Memory needed: the index, its vectors once more, and 8\n"
      "bytes per member. A placement over memory nodes is not kept.\n"
      "Example:\n"
      "  farvec search --index sift1m.clusters --queries log.u8bin --probe 16 \\\n"
      "    --probe-counts probes.json\n"
      "  farvec regroup --index sift1m.clusters --frequencies probes.json --out regrouped");
  command.callback([arguments] { regroup(*arguments); });
}

}  // namespace farvec::cli
