// The command `farvec runbook` runs a streaming runbook on an index that changes.
#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/command_line.h"
#include "base/error.h"
#include "base/option_rules.h"
#include "base/quantity.h"
#include "base/stored_form.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/runbook/runbook_attributes.h"
#include "cli/runbook/runbook_collection.h"
#include "cli/runbook/runbook_hnsw.h"
#include "cli/runbook/runbook_node.h"
#include "cli/runbook/runbook_segments.h"
#include "cli/search/filter_option.h"
#include "dataset/vector_set.h"
#include "measure/report/json_text.h"
#include "measure/report/measurement.h"
#include "measure/runbook/runbook_report.h"
#include "rpc/tls_flags.h"

namespace farvec::cli {
namespace {

struct RunbookArguments {
  std::string runbook;
  std::string dataset;
  std::string data;
  std::string queries;
  std::string metric;
  std::string truth;
  std::string json;
  std::string buffer;  ///< empty: paged::kUsualBuffer
  std::string vacuum_share = "10%";
  std::uint64_t page_bytes = 8192;
  std::string kind = "hnsw";
  client::NodeAccess node;  ///< without an address: the index is made in a folder
  RunbookOptions run;
  RunbookHnswOptions hnsw;
  RunbookSegments segments;
  RunbookAttributes attributes;
  std::uint32_t rebuild_every = 0;
  bool keep = false;
};

/// Owns the folder of the index. The run makes it, and the destructor removes it unless it is to
/// stay.
class IndexFolder {
 public:
  IndexFolder(std::string path, bool keep) : path_(std::move(path)), keep_(keep) {
    if (std::filesystem::exists(path_) && !std::filesystem::is_empty(path_)) {
      throw Error("'{}' is there already: a runbook begins with an empty index in a new folder",
                  path_);
    }
  }
  ~IndexFolder() {
    std::error_code ignored;
    if (!keep_) std::filesystem::remove_all(path_, ignored);
  }
  IndexFolder(const IndexFolder&) = delete;
  IndexFolder& operator=(const IndexFolder&) = delete;

 private:
  const std::string path_;
  const bool keep_;
};

RunbookHnswOptions hnsw_options(const RunbookArguments& arguments, const VectorView& data,
                                std::uint64_t most_live) {
  RunbookHnswOptions options = arguments.hnsw;
  options.config.dimension = data.dimension;
  options.config.metric = parse_metric(arguments.metric);
  options.config.type = stored_type(options.config.metric, data.type);
  options.page_bytes = static_cast<std::uint32_t>(arguments.page_bytes);
  options.vacuum_share = parse_share(arguments.vacuum_share, "--vacuum-share");
  const layout::HnswShape shape{options.page_bytes, data.dimension, options.config.type,
                                options.config.m, 0};
  const std::uint64_t operations =
      std::uint64_t{arguments.run.access.threads} * arguments.run.access.slots;
  options.buffer_bytes = paged::buffer_bytes(
      arguments.buffer, most_live * shape.vertex_bytes(0),
      paged::BufferNeeds::for_changes(options.config, options.page_bytes, operations), "--buffer");
  return options;
}

RunbookNodeOptions node_options(const RunbookArguments& arguments) {
  return {.node = arguments.node,
          .metric = parse_metric(arguments.metric),
          .probe = arguments.segments.options.probe,
          .vacuum_share = parse_share(arguments.vacuum_share, "--vacuum-share")};
}

std::unique_ptr<measure::RunbookIndex> make_index(const RunbookArguments& arguments,
                                                  const VectorView& data, std::uint64_t most_live) {
  if (!arguments.node.address.empty()) {
    return std::make_unique<RunbookNode>(arguments.run, node_options(arguments));
  }
  if (arguments.kind == "hnsw") {
    return std::make_unique<RunbookHnsw>(arguments.run, hnsw_options(arguments, data, most_live));
  }
  return std::make_unique<RunbookCollection>(
      arguments.run, collection_options(arguments.segments, parse_metric(arguments.metric), data,
                                        schema_of(arguments.attributes)));
}

// What says which index is made, by the kind that takes it.
constexpr std::array kHnswOptions{"--m",     "--ef-construction", "--page-bytes",  "--buffer",
                                  "--order", "--search",          "--min-complete"};
constexpr std::array kCollectionOptions{"--rebuild-every", "--schema"};
constexpr std::array kAttributeOptions{"--attributes", "--filter"};

/// Where a node has the index, only the searches are this command's.
void check_node_options(const Command& command) {
  const std::string where = "--index; the node of --connect has chosen it";
  constexpr std::array kEveryKind{"--kind", "--durability", "--threads", "--keep"};
  std::vector<OptionRule> rules;
  add_rules(kEveryKind, false, where, rules);
  add_rules(kHnswOptions, false, where, rules);
  add_rules(kCollectionOptions, false, where, rules);
  refuse_unused(command, rules);
  refuse_segments(command, where);
}

/// Refuses options that would be ignored.
void check_options(const Command& command, const RunbookArguments& arguments) {
  if (arguments.run.folder.empty() == arguments.node.address.empty()) {
    throw Error("give either --index DIR or --connect ADDRESS");
  }
  if (!arguments.node.address.empty()) return check_node_options(command);
  rpc::refuse_tls_flags(command, "compute nodes; this is --index");
  const bool hnsw = arguments.kind == "hnsw";
  std::vector<OptionRule> rules{{"--vacuum-share", hnsw, "--kind hnsw"},
                                {"--probe", !hnsw, "--kind collection --segments cluster"}};
  add_rules(kHnswOptions, hnsw, "--kind hnsw", rules);
  add_rules(kCollectionOptions, !hnsw, "--kind collection", rules);
  add_rules(kAttributeOptions, !hnsw, "--kind collection", rules);
  refuse_unused(command, rules);
  if (hnsw) return refuse_segments(command, "--kind collection");
  refuse_unused_segments(command, arguments.segments);
}

/// Runs the steps. When they are interrupted or fail, the lines of what was measured are written
/// all the same.
std::vector<measure::StepOutcome> run_steps(const measure::Runbook& runbook,
                                            const measure::TruthInput& input,
                                            measure::RunbookIndex& index,
                                            const measure::RunOptions& options,
                                            const measure::JsonLines& lines) {
  try {
    return measure::run_runbook(runbook, input, index, options);
  } catch (...) {
    lines.write();
    throw;
  }
}

void run(const Command& command, const RunbookArguments& arguments) {
  check_options(command, arguments);
  const measure::Runbook runbook = measure::read_runbook(arguments.runbook, arguments.dataset);
  const Metric metric = parse_metric(arguments.metric);
  const dataset::VectorSet data = dataset::load(arguments.data, {.metric = metric});
  const dataset::VectorSet queries = dataset::load(arguments.queries, {.metric = metric});
  if (queries.dimension() != data.dimension() || queries.type() != data.type()) {
    throw Error("'{}' and '{}' hold vectors of different dimensions or types", arguments.data,
                arguments.queries);
  }
  const std::uint64_t most_live = measure::check_runbook(runbook, data.count(), arguments.run.k);
  measure::JsonLines lines(arguments.json);
  std::optional<IndexFolder> folder;
  if (!arguments.run.folder.empty()) folder.emplace(arguments.run.folder, arguments.keep);
  const InterruptGuard watch;
  const auto index = make_index(arguments, data.view(), most_live);
  const layout::Schema schema = index->changing().row_shape().schema;
  const layout::Tuples attributes = read_attributes(arguments.attributes, schema, data.count());
  const measure::TruthInput input{.data = data.view(),
                                  .queries = queries.view(),
                                  .metric = metric,
                                  .k = arguments.run.k,
                                  .attributes = attributes.view(),
                                  .condition = parse_filter(arguments.run.filter, schema),
                                  .folder = arguments.truth,
                                  .quiet = true};
  require_useful(input.condition.get(), schema, input.attributes, data.count());
  measure::print_step_header();
  const auto told = [&](const measure::StepOutcome& outcome) {
    measure::print_step(outcome);
    lines.append(measure::json_text(measure::step_json(outcome)));
  };
  const std::vector<measure::StepOutcome> steps = run_steps(
      runbook, input, *index,
      {.told = told, .rebuild_every = arguments.rebuild_every, .interrupted = interrupted}, lines);
  const nlohmann::ordered_json summary =
      measure::summary_json({arguments.runbook, runbook.dataset, arguments.run.k}, steps, *index);
  lines.append(measure::json_text(summary));
  lines.write();
  fmt::print("mean recall@{} {:.4f}; {:.0f} inserts, {:.0f} deletes, {:.0f} searches a second\n",
             arguments.run.k, measure::mean_recall(steps),
             measure::rate_of(steps, measure::StepKind::insert),
             measure::rate_of(steps, measure::StepKind::erase),
             measure::rate_of(steps, measure::StepKind::search));
}

void add_graph_options(Command& command, RunbookArguments& a) {
  command.add_option("--m", a.hnsw.config.m, "Most neighbours on each layer, twice at layer 0")
      .show_default();
  command.add_option("--ef-construction", a.hnsw.config.ef_construction, "Candidates of an insert")
      .show_default();
  command.add_option("--list", a.run.list, "Candidates of a search (ef)").positive().show_default();
  command.add_option("--page-bytes", a.page_bytes, "4KiB, 8KiB, 16KiB or 32KiB")
      .size()
      .show_default();
  command.add_option(
      "--buffer", a.buffer,
      "Bytes of pages kept in memory, as a share of what the most vectors that are\n"
      "there at a time take or as a size (512MiB) [25%, and room for the changes in\n"
      "flight]");
  command.add_option("--durability", a.run.access.durability, "commit, interval:MS or none")
      .show_default();
  command
      .add_option("--order", a.hnsw.order,
                  "In which the rows of a step go in: none, first, centroid, random, pca, kmeans")
      .show_default();
  command
      .add_option("--vacuum-share", a.vacuum_share,
                  "A delete is followed by a vacuum when more than this share of the vectors are\n"
                  "marked as deleted")
      .show_default();
  add_crew_options(command, a.run.access);
}

}  // namespace

void register_runbook_command(Command& tool) {
  auto arguments = std::make_shared<RunbookArguments>();
  RunbookArguments& a = *arguments;
  Command command = tool.add_command(
      "runbook",
      "Run a streaming runbook: inserts, deletes and searches, with recall at each step");
  command.add_option("runbook", a.runbook, "YAML file as big-ann-benchmarks has them").required();
  command.add_option("--dataset", a.dataset, "Which of the file's data sets [the only one]");
  command.add_option("--data", a.data, "Vectors; rows are ids").required();
  command.add_option("--queries", a.queries, "Searched at every search step").required();
  command.add_option("--metric", a.metric, "l2, ip or cosine; of bits hamming or jaccard")
      .required();
  command.add_option("--index", a.run.folder, "Folder of the index that is made");
  command.add_option(
      "--connect", a.node.address,
      "HOST:PORT or unix:PATH of a compute node that serves an empty collection or\n"
      "an empty graph on pages, in place of --index: --slots calls of one query are\n"
      "under way at once, and --list and --probe go with each");
  rpc::add_tls_flags(command, a.node.tls);
  command
      .add_option("--kind", a.kind,
                  "hnsw (a graph on pages of an SSD) or collection (segments on any tier)")
      .one_of({"hnsw", "collection"})
      .show_default();
  command.add_option("--k", a.run.k, "Neighbours wanted").positive().show_default();
  command.add_option(
      "--truth", a.truth,
      "Folder of true neighbours, step<N>.gt<K>; those that are missing are found by\n"
      "comparing with every vector, and kept there");
  add_graph_options(command, a);
  add_segment_options(command, a.segments);
  add_attribute_options(command, a.attributes, a.run.filter);
  command
      .add_option(
          "--rebuild-every", a.rebuild_every,
          "collection: after every N searches, outside of the times, one is also built from\n"
          "nothing of what is live, and searched alike; 0: never")
      .show_default();
  command.add_flag("--keep", a.keep, "Leave the index behind");
  command.add_option("--json", a.json, "File for one JSON object per step, and one of all");
  command.footer(
      "Times are of the index alone, without the search for true neighbours. Everything is "
      "durable\n"
      "at the end of a step.\n"
      "Example:\n"
      "  farvec runbook sliding.yaml --data base.fbin --queries query.fbin --metric l2 \\\n"
      "    --index /tmp/run.hnsw --list 100 --truth truth --json run.jsonl");
  command.callback([arguments, command] { run(command, *arguments); });
}

}  // namespace farvec::cli
