// The command `farvec build hnsw` makes an HNSW graph on pages that change from a vector file.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/command_line.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/quantity.h"
#include "base/version.h"
#include "cli/commands.h"
#include "cli/hnsw/page_options.h"
#include "cli/index/build_input.h"
#include "cli/interrupt.h"
#include "indexing/source.h"
#include "measure/report/json_text.h"
#include "measure/sweep/pages/hnsw_report.h"
#include "ssd_baseline/paged/build/hnsw_destination.h"
#include "ssd_baseline/paged/build/hnsw_recipe.h"
#include "ssd_baseline/paged/graph/hnsw_access.h"

namespace farvec::cli {
namespace {

struct HnswBuildArguments {
  BuildInput input;
  PageAccess access;
  std::string out;
  std::string order = "none";
  std::string insert_share = "0%";
  std::string insert_pages = "10%";
  std::uint64_t page_bytes = 8192;
  std::uint64_t memory_rows = 0;  ///< 0: all
  paged::HnswConfig config;
  std::uint32_t partition_nodes = 1;
  unsigned build_threads = 0;
  bool overwrite = false;
  bool quiet = false;
  bool json = false;
};

paged::HnswRecipe recipe_of(const HnswBuildArguments& arguments, const VectorView& rows,
                            Metric metric) {
  paged::HnswRecipe recipe;
  recipe.config = arguments.config;
  recipe.config.dimension = rows.dimension;
  recipe.config.type = rows.type;
  recipe.config.metric = metric;
  recipe.order = indexing::parse_order(arguments.order);
  recipe.order.seed = arguments.config.seed;
  recipe.order.threads = arguments.build_threads;
  if (arguments.memory_rows > 0) recipe.memory_rows = arguments.memory_rows;
  recipe.partition_nodes = arguments.partition_nodes;
  recipe.insert_share = parse_share(arguments.insert_share, "--insert-share");
  recipe.config.most_insert_pages = static_cast<std::uint32_t>(
      std::lround(parse_share(arguments.insert_pages, "--insert-pages") * layout::kMillionPages));
  recipe.threads = arguments.build_threads;
  recipe.quiet = arguments.quiet;
  recipe.interrupted = [] { return interrupted(); };
  recipe.crew = crew_options(arguments.access);
  // Nothing is acknowledged before the whole graph is there.
  recipe.crew.acknowledge_each = false;
  recipe.store.folder = arguments.out;
  recipe.replace = arguments.overwrite;
  recipe.store.page_bytes = static_cast<std::uint32_t>(arguments.page_bytes);
  recipe.store.log.durability = wal::Durability::none;
  recipe.store.buffer_bytes =
      paged::build_buffer_bytes(recipe, rows.count, {arguments.access.buffer, "--buffer"});
  return recipe;
}

void report(const HnswBuildArguments& arguments, paged::PagedHnsw& hnsw,
            const paged::HnswBuildStats& stats) {
  const paged::HnswDescription description = hnsw.describe();
  const std::uint64_t data =
      std::uint64_t{description.state.vertices} * hnsw.shape().vector_bytes();
  const double amplification = static_cast<double>(description.bytes()) /
                               static_cast<double>(std::max<std::uint64_t>(data, 1));
  if (arguments.json) {
    nlohmann::ordered_json facts{{"index", arguments.out}};
    facts.update(hnsw_json(description));
    facts["order"] = arguments.order;
    facts["order_seconds"] = stats.order_seconds;
    facts["memory_rows"] = stats.memory_rows;
    facts["memory_seconds"] = stats.memory.seconds;
    facts["layout_seconds"] = stats.layout_seconds;
    facts["partition_nodes"] = arguments.partition_nodes;
    facts["partitions"] = stats.partitions;
    facts["buffer"] =
        arguments.access.buffer.empty() ? paged::kUsualBuffer : arguments.access.buffer;
    facts["inserts"] =
        measure::work_json(stats.inserts, stats.insert_store, description.page_bytes);
    facts["amplification"] = amplification;
    facts["peak_memory_bytes"] = peak_resident_bytes();
    facts["commit"] = commit();
    fmt::print("{}\n", measure::json_text(facts));
    return;
  }
  fmt::print(
      "{}: {} vectors of {} x {}, {}, m {}, ef_construction {}\n"
      "order {} in {:.1f} s; {} rows in memory in {:.1f} s, laid out in {:.1f} s\n",
      arguments.out, description.state.vertices, description.config.dimension,
      to_string(description.config.type), to_string(description.config.metric),
      description.config.m, description.config.ef_construction, arguments.order,
      stats.order_seconds, stats.memory_rows, stats.memory.seconds, stats.layout_seconds);
  if (stats.inserts.done > 0) {
    measure::print_work("inserted on pages", stats.inserts, stats.insert_store,
                        description.page_bytes);
  }
  fmt::print("{} pages of {} bytes, {:.2f} times the vectors; peak memory {:.0f} MiB\n",
             description.pages, description.page_bytes, amplification,
             static_cast<double>(peak_resident_bytes()) / (1 << 20));
}

void build(const HnswBuildArguments& arguments) {
  const Metric metric = parse_metric(arguments.input.metric);
  (void)indexing::parse_order(arguments.order);
  paged::check_hnsw_destination(arguments.out, arguments.overwrite, "--overwrite");
  const dataset::VectorSet rows = indexing::stored_rows(load_source(arguments.input), metric,
                                                        resolve_threads(arguments.build_threads));
  const paged::HnswRecipe recipe = recipe_of(arguments, rows.view(), metric);
  paged::check_hnsw_recipe(recipe);
  const InterruptGuard watch;
  paged::HnswBuildStats stats;
  const auto hnsw = paged::build_paged_hnsw(rows.view(), recipe, stats);
  report(arguments, *hnsw, stats);
}

void add_graph_options(Command& command, HnswBuildArguments& a) {
  command.add_option("--m", a.config.m, "Most neighbours on each layer, twice as many at layer 0")
      .show_default();
  command
      .add_option("--ef-construction", a.config.ef_construction,
                  "Candidates of the searches of an insert")
      .show_default();
  command.add_option("--page-bytes", a.page_bytes, "4KiB, 8KiB, 16KiB or 32KiB")
      .size()
      .show_default();
  command
      .add_option(
          "--order", a.order,
          "In which rows go in: none, first, centroid, random, pca, kmeans, pca+kmeans, or\n"
          "file:PATH (.ibin)")
      .show_default();
  command.add_option(
      "--memory-rows", a.memory_rows,
      "Rows of which the graph is built in memory; the others are inserted on pages\n"
      "[all]");
  command
      .add_option("--partition-nodes", a.partition_nodes,
                  "Vertices that share pages because they are neighbours, 1 to 256; 1: pages are\n"
                  "filled in the order of rows")
      .show_default();
  command
      .add_option(
          "--insert-share", a.insert_share,
          "Share of the partitions that have a page of their own for what is inserted, from\n"
          "the beginning; it follows the inserts")
      .show_default();
  command
      .add_option(
          "--insert-pages", a.insert_pages,
          "Most of these pages that inserts bring about, as a share of the pages of vectors;\n"
          "0%: --insert-share does not change")
      .show_default();
}

}  // namespace

void register_build_hnsw_command(Command& build_command) {
  auto arguments = std::make_shared<HnswBuildArguments>();
  HnswBuildArguments& a = *arguments;
  Command command = build_command.add_command(
      "hnsw", "HNSW graph on the pages of a disk, which takes inserts and deletes");
  add_input_options(command, a.input);
  command.add_option("--out", a.out, "Folder to make").required();
  add_graph_options(command, a);
  command.add_option(
      "--buffer", a.access.buffer,
      "Bytes of pages kept in memory while rows are inserted on pages, as a share of\n"
      "what the graph will take or as a size (512MiB) [25%, and room for the inserts in\n"
      "flight]");
  add_crew_options(command, a.access);
  command
      .add_option("--build-threads", a.build_threads,
                  "Threads of the build in memory; 0: one per processor")
      .show_default();
  command.add_option("--seed", a.config.seed, "Seed of the vertices' levels").show_default();
  command.add_flag("--overwrite", a.overwrite, "Replace a graph that is already there");
  command.add_flag("--quiet", a.quiet, "No progress");
  command.add_flag("--json", a.json, "Report as one JSON object");
  command.footer(
      "What is built in memory is the same for any number of threads. The id of a vector is the\n"
      "number of its row. docs/use/paged-hnsw.md has the whole story.\n"
      "Example:\n"
      "  farvec build hnsw --data base.fbin --metric l2 --out set.hnsw --partition-nodes 64 \\\n"
      "    --insert-share 30% --order pca");
  command.callback([arguments] { build(*arguments); });
}

}  // namespace farvec::cli
