// The command `farvec build graph` makes an index directory from a vector file.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/command_line.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/option_rules.h"
#include "base/parallel.h"
#include "base/version.h"
#include "cli/commands.h"
#include "cli/index/build_input.h"
#include "cli/index/code_bits_option.h"
#include "cli/index/reduction_option.h"
#include "cli/index/row_attributes_option.h"
#include "cli/index/slotted_build.h"
#include "graph/sparse_vertices.h"
#include "graph/usual_degree.h"
#include "graph/vamana_builder.h"
#include "indexing/code_bits.h"
#include "indexing/graph_recipe.h"
#include "indexing/slotted_recipe.h"
#include "indexing/source.h"
#include "indexing/steering_words.h"
#include "layout/index/index_writer.h"
#include "measure/report/json_text.h"
#include "search/core/queries.h"

namespace farvec::cli {
namespace {

struct BuildArguments {
  BuildInput input;
  RowAttributesOption attributes;
  ReductionOption reduction;
  std::string out;
  std::string layout = "csr";
  graph::VamanaOptions graph;
  std::optional<std::uint32_t> degree;  ///< none: the metric's
  std::string sample_queries;
  SlottedOptions slotted;
  std::optional<std::uint32_t> code_bits;
  bool record_checksum = false;
  bool overwrite = false;
  bool json = false;

  layout::LayoutKind kind() const { return layout::parse_layout_kind(layout); }
  bool is_slotted() const { return kind() == layout::LayoutKind::slotted; }
  /// Returns the bits per dimension of the codes that estimates begin with, where they are asked
  /// for.
  std::optional<std::uint32_t> bits() const {
    if (is_slotted() && slotted.payload == "code") return 1;
    return indexing::code_bits_of(kind(), code_bits, kCodeBitsOption);
  }
};

void report(const BuildArguments& arguments, const layout::Manifest& manifest,
            const indexing::BuiltGraph& built) {
  tell_steering(manifest);
  const graph::VamanaStats& stats = built.stats;
  const std::uint64_t sparse = graph::sparse_vertices(built.graph, manifest.graph().build.degree);
  const double index_bytes =
      static_cast<double>(manifest.region(layout::kRecordsRegion).file_bytes());
  const double amplification = index_bytes / static_cast<double>(manifest.dataset_bytes());
  const double distances =
      static_cast<double>(stats.distances) / static_cast<double>(manifest.count);
  if (arguments.json) {
    nlohmann::ordered_json facts{{"index", arguments.out},
                                 {"dataset", manifest.dataset.name},
                                 {"count", manifest.count},
                                 {"dimension", manifest.dimension},
                                 {"average_degree", manifest.average_degree()},
                                 {"sparse_vertices", sparse},
                                 {"graph_seconds", stats.seconds},
                                 {"distances_per_vector", distances},
                                 {"edges_added_for_reachability", stats.repaired},
                                 {"edges_added_for_queries", stats.query_edges},
                                 {"amplification", amplification},
                                 {"code_bits", manifest.graph().build.code_bits},
                                 {"peak_memory_bytes", peak_resident_bytes()},
                                 {"commit", commit()}};
    if (const std::string why = indexing::steering_words(manifest, kCodeBitsOption); !why.empty()) {
      facts["code_bits_because"] = why;
    }
    if (manifest.is_slotted()) {
      facts["pages"] = manifest.slotted().pages;
      facts["affine_pairs"] = manifest.slotted().affine_pairs;
      facts["affine_pairs_together"] = manifest.slotted().affine_pairs_together;
    }
    fmt::print("{}\n", measure::json_text(facts));
    return;
  }
  fmt::print(
      "{}: {} vectors of {} x {}, {} layout\n"
      "graph built in {:.1f} s, {:.0f} distances per vector, average degree {:.1f}, {} edges added "
      "so that all vertices are reachable\n"
      "records {:.2f} times the data; peak memory {:.0f} MiB\n",
      arguments.out, manifest.count, manifest.dimension, to_string(manifest.stored_type),
      manifest.layout_name(), stats.seconds, distances, manifest.average_degree(), stats.repaired,
      amplification, static_cast<double>(peak_resident_bytes()) / (1 << 20));
  if (sparse > 0) {
    fmt::print("{} of {} vertices have fewer than half of {} edges: rows are few, or repeat\n",
               sparse, manifest.count, manifest.graph().build.degree);
  }
  if (!arguments.sample_queries.empty()) {
    fmt::print("{} edges added for queries like those of {}\n", stats.query_edges,
               arguments.sample_queries);
  }
  if (manifest.is_slotted()) {
    fmt::print("{} pages of {} bytes, placement {}: {} of {} affine pairs share a page\n",
               manifest.slotted().pages, manifest.graph().block_bytes, manifest.slotted().placement,
               manifest.slotted().affine_pairs_together, manifest.slotted().affine_pairs);
  }
}

/// Refuses options that would be ignored.
void check_options(const Command& command, const BuildArguments& arguments) {
  const bool slotted = arguments.is_slotted();
  refuse_unused_slotted(command, slotted ? &arguments.slotted : nullptr);
  refuse_unused_reduction(command, arguments.reduction);
  refuse_unused(
      command,
      std::vector<OptionRule>{
          {"--record-checksum", !slotted,
           "csr, packed, inline and padded: every slotted page has a checksum of its own"}});
}

void check_arguments(const BuildArguments& arguments) {
  (void)arguments.bits();
  indexing::check_degree(arguments.kind(), arguments.graph.degree);
  if (!arguments.is_slotted()) return;
  check_slotted_options(arguments.slotted);
}

layout::Manifest build_pages(const BuildArguments& arguments, indexing::Source source,
                             const layout::WriteOptions& options) {
  const indexing::SlottedRecipe recipe =
      indexing::resolve_slotted(slotted_recipe(arguments.slotted, arguments.bits()), source.rows);
  warn_of_slotted(recipe, source.rows.dimension);
  const indexing::BuiltGraph built =
      indexing::build_slotted_graph(std::move(source), recipe, arguments.graph);
  layout::Manifest written = indexing::write_slotted(arguments.out, built, recipe, options);
  report(arguments, written, built);
  return written;
}

layout::Manifest build_records(const BuildArguments& arguments, indexing::Source source,
                               const layout::WriteOptions& options) {
  const indexing::GraphRecipe recipe{arguments.kind(), arguments.bits(), arguments.record_checksum};
  indexing::require_codes_fit(source.rows.type, recipe.layout, recipe.code_bits, kCodeBitsOption);
  const indexing::BuiltGraph built = indexing::build_graph(std::move(source), arguments.graph);
  layout::Manifest written = indexing::write_graph(arguments.out, built, recipe, options);
  report(arguments, written, built);
  return written;
}

void build(const Command& command, BuildArguments arguments) {
  check_options(command, arguments);
  const Metric metric = parse_metric(arguments.input.metric);
  arguments.graph.degree = arguments.degree.value_or(graph::usual_degree(metric));
  check_arguments(arguments);
  refuse_sample_of_reduced(arguments.reduction, arguments.sample_queries);
  const unsigned threads = resolve_threads(arguments.graph.threads);
  dataset::VectorSet rows = load_source(arguments.input);
  require_all_rows(arguments.input, rows, arguments.attributes);
  const ReadAttributes attributes = read_row_attributes(arguments.attributes, rows.view().count);
  layout::check_destination(arguments.out, arguments.overwrite,
                            rows.view().count * rows.view().row_bytes());
  layout::Manifest manifest =
      indexing::describe_source({arguments.input.data, arguments.input.name}, rows.view(), metric);
  std::optional<dataset::VectorSet> queries;
  if (!arguments.sample_queries.empty()) {
    queries = search::load_queries(arguments.sample_queries, search::form_of(manifest));
    arguments.graph.sample_queries = queries->view();
  }
  const dataset::VectorSet stored = indexing::stored_rows(std::move(rows), metric, threads);
  const layout::WriteOptions options{
      .overwrite = arguments.overwrite, .threads = threads, .quiet = arguments.graph.quiet};
  indexing::Source source{std::move(manifest), stored.view()};
  std::optional<indexing::ReducedSource> reduced;
  if (arguments.reduction.given()) {
    source = reduced.emplace(source, arguments.reduction.wish(), threads).source();
  }
  const layout::Manifest written = arguments.is_slotted()
                                       ? build_pages(arguments, std::move(source), options)
                                       : build_records(arguments, std::move(source), options);
  if (reduced) reduced->write_second(arguments.out, written, options);
  attributes.write(arguments.out, written);
}

void add_graph_options(Command& command, BuildArguments& arguments) {
  graph::VamanaOptions& graph = arguments.graph;
  add_input_options(command, arguments.input);
  add_row_attributes(command, arguments.attributes);
  add_reduction_option(command, arguments.reduction);
  command.add_option("--out", arguments.out, "Index directory to make").required();
  command.add_option("--degree", arguments.degree,
                     "R: most edges per vertex [32; of --metric ip 48]");
  command.add_option("--list", graph.list, "L of the searches during the build").show_default();
  command.add_option("--alpha", graph.alpha, "How much longer an edge may be than a detour")
      .show_default();
  command.add_option("--passes", graph.passes, "Times every vertex is inserted").show_default();
  command.add_option("--sample-queries", arguments.sample_queries,
                     "Queries like those to come, where they are not like the vectors: what is\n"
                     "nearest to one of them gets edges to the rest of it, in place of others");
  add_code_bits_option(command, arguments.code_bits);
  command
      .add_option("--layout", arguments.layout,
                  "csr; packed (compressed lists of neighbours, vertices in an order that makes\n"
                  "them short: fewer bytes, a longer build); inline (codes of the neighbours in\n"
                  "the record: more bytes, no codes in DRAM); padded (DiskANN's: whole nodes in\n"
                  "blocks); or slotted (pages for SSDs, searched with --tier ssd)")
      .show_default();
  add_slotted_options(command, arguments.slotted);
  command.add_option("--threads", graph.threads, "0: one per processor").show_default();
  command.add_option("--seed", graph.seed, "The same seed gives the same index").show_default();
  command.add_flag("--record-checksum", arguments.record_checksum,
                   "4 bytes more per record, checked on every read");
  command.add_flag("--overwrite", arguments.overwrite, "Replace an index that is already there");
  command.add_flag("--quiet", graph.quiet, "No progress");
  command.add_flag("--json", arguments.json, "Report as one JSON object");
}

}  // namespace

void register_build_command(Command& tool) {
  Command command = tool.add_command("build", "Build an index from a vector file");
  command.require_command();
  auto arguments = std::make_shared<BuildArguments>();
  Command graph = command.add_command("graph",
                                      "Vamana graph: records on the memory node, "
                                      "codes and offsets in compute DRAM");
  add_graph_options(graph, *arguments);
  graph.footer(
      "The same data, options and seed give the same bytes, whatever --threads is (for floats, on\n"
      "processors with the same vector instructions). Memory needed:\n"
      "the vectors (for cosine a second, normalised copy: f16 for u8 and i8), 5.2 * degree bytes\n"
      "per vector for the graph, and the codes; for packed the vectors and edges once more, which\n"
      "are put into an order; besides, up to 120 MB for the program and the records that are\n"
      "being written, of few vectors all of them.\n"
      "Example:\n  farvec build graph --data base.u8bin --metric l2 --degree 32 --list 100 \\\n"
      "    --out sift1m.index");
  graph.callback([arguments, graph] { build(graph, *arguments); });
  register_build_cluster_command(command);
  register_build_hnsw_command(command);
}

}  // namespace farvec::cli
