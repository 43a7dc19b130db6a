// The command `farvec build cluster` makes the directory of a cluster index from a vector file.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/command_line.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/quantity.h"
#include "base/stored_form.h"
#include "base/version.h"
#include "cli/commands.h"
#include "cli/index/build_input.h"
#include "cli/index/code_bits_option.h"
#include "cli/index/reduction_option.h"
#include "cli/index/row_attributes_option.h"
#include "dataset/mapped_vectors.h"
#include "indexing/cluster_recipe.h"
#include "indexing/code_bits.h"
#include "indexing/source.h"
#include "measure/report/json_text.h"
#include "quantization/neighbor_codes.h"
#include "search/core/queries.h"

namespace farvec::cli {
namespace {

struct ClusterArguments {
  BuildInput input;
  RowAttributesOption attributes;
  ReductionOption reduction;
  std::string out;
  std::string layout = "grouped";
  std::string heads, closure;  ///< empty: the number of clusters decides
  cluster::ClusteringOptions clustering;
  indexing::ClusterNumber number;
  std::string sample_queries;
  std::uint32_t sample_probe = indexing::QuerySample{}.probe;
  std::optional<std::uint32_t> code_bits;  ///< bits of the coded layout
  bool record_checksum = false;
  bool map = false;
  bool overwrite = false;
  bool json = false;
};

/// One index that is to be written.
struct Output {
  layout::ClusterLayoutKind layout;
  std::string directory;
};

/// `type` is that of the vectors in the index. Bits have no codes, so `all` leaves out coded,
/// unless codes were asked for: then it is refused.
std::vector<Output> outputs(const ClusterArguments& arguments, ElementType type) {
  if (arguments.layout != "all") {
    return {{layout::parse_cluster_layout(arguments.layout), arguments.out}};
  }
  std::vector<Output> all;
  for (const layout::ClusterLayoutKind kind : layout::kClusterLayouts) {
    const bool has_codes = kind == layout::ClusterLayoutKind::coded;
    if (has_codes && type == ElementType::b1 && !arguments.code_bits) continue;
    all.push_back({kind, (std::filesystem::path(arguments.out) / to_string(kind)).string()});
  }
  return all;
}

layout::Manifest describe(const ClusterArguments& arguments, const VectorView& source,
                          Metric metric) {
  return indexing::describe_source({arguments.input.data, arguments.input.name}, source, metric);
}

void report(const ClusterArguments& arguments, const Output& output,
            const layout::Manifest& manifest, const cluster::ClusteringStats& stats) {
  const auto bytes = static_cast<double>(manifest.region(layout::kRecordsRegion).file_bytes());
  const double amplification = bytes / static_cast<double>(manifest.dataset_bytes());
  const double replication = static_cast<double>(manifest.cluster().geometry.members) /
                             static_cast<double>(manifest.count);
  const double seconds = stats.training_seconds + stats.assignment_seconds;
  if (arguments.json) {
    const nlohmann::ordered_json facts{{"index", output.directory},
                                       {"dataset", manifest.dataset.name},
                                       {"count", manifest.count},
                                       {"dimension", manifest.dimension},
                                       {"layout", to_string(output.layout)},
                                       {"clusters", manifest.cluster().geometry.clusters},
                                       {"replicas", manifest.cluster().build.replicas},
                                       {"clusters_per_vector", replication},
                                       {"largest_cluster", stats.largest_cluster},
                                       {"training_seconds", stats.training_seconds},
                                       {"assignment_seconds", stats.assignment_seconds},
                                       {"amplification", amplification},
                                       {"peak_memory_bytes", peak_resident_bytes()},
                                       {"commit", commit()}};
    fmt::print("{}\n", measure::json_text(facts));
    return;
  }
  fmt::print(
      "{}: {} vectors of {} x {} in {} clusters, {} layout\n"
      "clustered in {:.1f} s; every vector is in {:.2f} clusters on average, the largest has {}\n"
      "records {:.2f} times the data; peak memory {:.0f} MiB\n",
      output.directory, manifest.count, manifest.dimension, to_string(manifest.stored_type),
      manifest.cluster().geometry.clusters, to_string(output.layout), seconds, replication,
      stats.largest_cluster, amplification, static_cast<double>(peak_resident_bytes()) / (1 << 20));
}

void prepare_outputs(const ClusterArguments& arguments, const VectorView& source) {
  const ElementType type =
      arguments.reduction.given() ? arguments.reduction.wish().type : source.type;
  const std::vector<Output> wanted = outputs(arguments, type);
  if (wanted.size() > 1) std::filesystem::create_directories(arguments.out);
  for (const Output& output : wanted) {
    layout::check_destination(output.directory, arguments.overwrite,
                              source.count * source.row_bytes());
  }
}

/// `reduced` is what the source is of, where it has fewer bits than the data; else null.
void build_from(const ClusterArguments& arguments, indexing::Source source,
                const indexing::ReducedSource* reduced = nullptr) {
  const cluster::ClusteringOptions& options = arguments.clustering;
  const layout::WriteOptions write{arguments.overwrite, resolve_threads(options.threads),
                                   options.quiet};
  const ReadAttributes attributes = read_row_attributes(arguments.attributes, source.rows.count);
  std::optional<dataset::VectorSet> queries;
  std::optional<indexing::QuerySample> sample;
  if (!arguments.sample_queries.empty()) {
    queries = search::load_queries(arguments.sample_queries, search::form_of(source.manifest));
    sample = {queries->view(), arguments.sample_probe};
  }
  const std::vector<Output> wanted = outputs(arguments, source.rows.type);
  for (const Output& output : wanted) {
    indexing::require_codes_fit(source.rows.type, output.layout);
  }
  const indexing::BuiltClusters built =
      indexing::build_clusters(std::move(source), options, sample);
  for (const Output& output : wanted) {
    const layout::Manifest written = indexing::write_clusters(
        output.directory, built, {output.layout, arguments.record_checksum, arguments.code_bits},
        write);
    tell_steering(written);
    report(arguments, output, written, built.stats);
    if (reduced != nullptr) reduced->write_second(output.directory, written, write);
    attributes.write(output.directory, written);
  }
}

void build_mapped(ClusterArguments arguments, Metric metric) {
  if (stores_unit_vectors(metric)) {
    throw Error("--map: cosine needs the normalised vectors in memory; normalise the file first");
  }
  const dataset::MappedVectors source(arguments.input.data, dataset::MappedVectors::Values::finite,
                                      metric);
  prepare_outputs(arguments, source.view());
  arguments.clustering.clusters = arguments.number.of(source.view());
  build_from(arguments, {describe(arguments, source.view(), metric), source.view()});
}

void build(ClusterArguments arguments) {
  if (!arguments.number.is_said_once_at_most()) {
    throw Error("give one of --clusters, --cluster-bytes and --head-ratio, or none");
  }
  // This refuses a word that is no layout before anything is read.
  const auto with_codes = arguments.layout == "all"
                              ? layout::ClusterLayoutKind::coded
                              : layout::parse_cluster_layout(arguments.layout);
  arguments.code_bits = indexing::code_bits_of(with_codes, arguments.code_bits, kCodeBitsOption);
  arguments.clustering.heads =
      arguments.heads.empty() ? arguments.number.heads() : parse_heads(arguments.heads);
  arguments.clustering.closure =
      arguments.closure.empty() ? arguments.number.closure() : parse_closure(arguments.closure);
  const Metric metric = parse_metric(arguments.input.metric);
  if (arguments.map) return build_mapped(arguments, metric);
  dataset::VectorSet source = load_source(arguments.input);
  require_all_rows(arguments.input, source, arguments.attributes);
  prepare_outputs(arguments, source.view());
  layout::Manifest manifest = describe(arguments, source.view(), metric);
  const unsigned threads = resolve_threads(arguments.clustering.threads);
  if (arguments.reduction.given()) {
    const dataset::VectorSet stored = indexing::stored_rows(std::move(source), metric, threads);
    const indexing::ReducedSource reduced({std::move(manifest), stored.view()},
                                          arguments.reduction.wish(), threads);
    arguments.clustering.clusters = arguments.number.of(reduced.source().rows);
    return build_from(arguments, reduced.source(), &reduced);
  }
  arguments.clustering.clusters = arguments.number.of(source.view());
  const dataset::VectorSet stored = indexing::stored_rows(std::move(source), metric, threads);
  build_from(arguments, {std::move(manifest), stored.view()});
}

/// Refuses options that would be ignored, or cannot be together.
void check_reduction(const Command& command, const ClusterArguments& arguments) {
  refuse_unused_reduction(command, arguments.reduction);
  if (!arguments.reduction.given()) return;
  if (arguments.map) {
    throw Error("--map: --store {} needs the vectors in memory", arguments.reduction.store);
  }
  refuse_sample_of_reduced(arguments.reduction, arguments.sample_queries);
}

/// How many clusters there are, and what their centroids are.
void add_cluster_options(Command& command, ClusterArguments& arguments) {
  command.add_option("--clusters", arguments.number.clusters, "How many clusters");
  command
      .add_option("--cluster-bytes", arguments.number.bytes,
                  "Or: bytes (12800, 12.5KiB) of the vectors that have one cluster as their own,\n"
                  "on average")
      .size();
  command.add_option("--head-ratio", arguments.number.head_ratio,
                     "Or: clusters over vectors, above 0 to 1; a cluster has one head in compute\n"
                     "DRAM [0.16, as in SPANN]");
  command.add_option("--heads", arguments.heads,
                     "vectors: a cluster's centroid is the one of its vectors that is nearest to\n"
                     "their mean, as in SPANN; means: the mean; rounded: the mean, rounded to\n"
                     "elements of the data, which takes as little DRAM as a vector [vectors; with\n"
                     "--clusters or --cluster-bytes means]");
}

/// Which clusters a vector is put into.
void add_closure_options(Command& command, ClusterArguments& arguments) {
  cluster::ClusteringOptions& clustering = arguments.clustering;
  command.add_option(
      "--closure", arguments.closure,
      "Which near clusters a vector is also put into. sptag: those nearer to it than\n"
      "to each of its clusters before (SPANN's code); spann: those nearer to it than\n"
      "to the candidate before (the publication); fitted: all within a ratio that\n"
      "makes (R + 1) / 2 per vector, but for near doubles [sptag; with --clusters or\n"
      "--cluster-bytes fitted]");
  command.add_option("--replicas", clustering.replicas, "R: most clusters per vector, 1 to 8")
      .show_default();
  command.add_option("--closure-ratio", clustering.closure_ratio,
                     "A vector is put into a cluster only when that centroid is at most this many\n"
                     "times as far away as its nearest one [of the closure: fitted chooses it,\n"
                     "spann has 11, sptag none]");
  command.add_option(
      "--rng-factor", clustering.rng_factor,
      "1: a vector is put into a further cluster only when that centroid is nearer to\n"
      "the vector than to the centroids before it; more keeps more replicas [of the\n"
      "closure: fitted 2, spann and sptag 1]");
  command
      .add_option("--balance", clustering.balance,
                  "Most vectors that have one cluster as their own, over the mean")
      .show_default();
}

/// How the clusters are stored.
void add_layout_options(Command& command, ClusterArguments& arguments) {
  command
      .add_option("--layout,--layouts", arguments.layout,
                  "coupled, decoupled, grouped, grouped-inline, coded; all: one index of each\n"
                  "below --out, without coded where the index has bits")
      .show_default();
  command
      .add_option(kCodeBitsOption, arguments.code_bits,
                  "Layout coded: bits per dimension of the codes, 1 to 4 [2, or more where\n"
                  "the data needs more]. More read more of every cluster, and fewer vectors for\n"
                  "the same recall")
      .range(1u, std::uint32_t{quantization::NeighborCodes::kMostBits});
  command.add_option("--sample-queries", arguments.sample_queries,
                     "Queries like those to come: a vector is stored with that of its clusters\n"
                     "which they probe most [with the one that has most members]");
  command
      .add_option("--sample-probe", arguments.sample_probe,
                  "Clusters that each query of the sample probes")
      .show_default();
}

void add_options(Command& command, ClusterArguments& arguments) {
  cluster::ClusteringOptions& clustering = arguments.clustering;
  add_input_options(command, arguments.input);
  add_row_attributes(command, arguments.attributes);
  add_reduction_option(command, arguments.reduction);
  command.add_option("--out", arguments.out, "Index directory to make").required();
  add_cluster_options(command, arguments);
  add_closure_options(command, arguments);
  add_layout_options(command, arguments);
  command.add_option("--sample", clustering.sample, "Rows that k-means sees [64 per cluster]");
  command.add_option("--threads", clustering.threads, "0: one per processor").show_default();
  command.add_option("--seed", clustering.seed, "The same seed gives the same index")
      .show_default();
  command.add_flag("--map", arguments.map,
                   "Leave the vectors in their file (.fbin, .u8bin, .i8bin): for more than memory");
  command.add_flag("--record-checksum", arguments.record_checksum,
                   "4 bytes more per vector, checked on every read");
  command.add_flag("--overwrite", arguments.overwrite, "Replace an index that is already there");
  command.add_flag("--quiet", clustering.quiet, "No progress");
  command.add_flag("--json", arguments.json, "Report as one JSON object");
}

}  // namespace

void register_build_cluster_command(Command& build_command) {
  auto arguments = std::make_shared<ClusterArguments>();
  Command command = build_command.add_command(
      "cluster",
      "Balanced clusters: vectors and addresses on the memory node, centroids in compute DRAM");
  add_options(command, *arguments);
  command.footer(
      "Every vector is in up to R clusters. coupled stores it as often, the others once, in\n"
      "grouped, grouped-inline and coded next to the other vectors of one of its clusters. In\n"
      "coded every cluster has besides the codes of its vectors, by which a search chooses the\n"
      "vectors that it reads.\n"
      "Memory needed: the vectors (with --map only a sample of them), the sample once more as\n"
      "floats, 8 bytes per member, 16 per vector, and the centroids; besides, up to 120 MB for\n"
      "the program and what is being written. The same data, options and seed give the same\n"
      "bytes.\n"
      "Example:\n  farvec build cluster --data base.u8bin --metric l2 --cluster-bytes 12800 \\\n"
      "    --replicas 8 --layout grouped --out sift1m.clusters");
  command.callback([arguments, command] {
    check_reduction(command, *arguments);
    build(*arguments);
  });
}

}  // namespace farvec::cli
