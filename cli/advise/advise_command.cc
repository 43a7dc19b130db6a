// The command `farvec advise` says which index to build for a data set, a device and a recall.
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/command_line.h"
#include "base/error.h"
#include "base/option_rules.h"
#include "base/quantity.h"
#include "cli/advise/signalled_folder.h"
#include "cli/commands.h"
#include "measure/advise/advisor.h"
#include "measure/report/json_text.h"
#include "measure/report/measurement.h"

namespace farvec::cli {
namespace {

struct AdviseArguments {
  measure::AdviceOptions options;
  std::string scratch;
  std::string metric = "l2";
  std::vector<std::string> devices;
  std::string degrees = "16,32,48";
  std::string cluster_rows = "50,150";
  std::string replicas = "1,4,8";
  std::string layouts = "all";
  std::string graph_layouts = "all";
  std::string budgets = "20%";
  std::string json;
};

/// Returns those of `all` that the text names, in the order of the text.
template <typename Kind, typename Parse>
std::vector<Kind> parse_kinds(const std::string& text, std::span<const Kind> all, Parse parse) {
  if (text == "all") return {all.begin(), all.end()};
  std::vector<Kind> kinds;
  for (const std::string& word : measure::split_words(text)) kinds.push_back(parse(word));
  return kinds;
}

/// Reads "10%,20%".
std::vector<double> parse_percents(const std::string& text) {
  std::vector<double> percents;
  for (const std::string& word : measure::split_words(text)) {
    percents.push_back(parse_percent(word, "--memory-budget"));
  }
  return percents;
}

std::vector<std::uint32_t> numbers(const std::string& text, const std::string& option) {
  if (text == "none") return {};
  return measure::split_numbers(text, option);
}

bool is_disk(const measure::DeviceChoice& choice) {
  return !choice.disk.empty() || measure::AdviceDevice{choice.model, {}, 1, {}}.is_disk();
}

/// Returns true when it names a folder, or nothing that exists: opening the disk then says what is
/// wrong.
bool is_folder(const measure::DeviceChoice& choice) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  return !choice.disk.empty() &&
         (!fs::exists(choice.disk, ignored) || fs::is_directory(choice.disk, ignored));
}

/// Refuses options that would be ignored.
void check_options(const Command& command, const AdviseArguments& arguments) {
  const bool graphs = arguments.degrees != "none";
  const bool clusters = arguments.cluster_rows != "none";
  const auto& devices = arguments.options.devices;
  const auto& layouts = arguments.options.graph_layouts;
  const bool slotted =
      graphs && std::count(layouts.begin(), layouts.end(), layout::LayoutKind::slotted) > 0;
  const bool disk =
      std::any_of(devices.begin(), devices.end(),
                  [](const measure::DeviceChoice& choice) { return !choice.disk.empty(); });
  const bool pages = slotted && std::any_of(devices.begin(), devices.end(), is_disk);
  const bool folder = std::any_of(devices.begin(), devices.end(), is_folder);
  const std::string of_graphs = "graphs, and --degree is none";
  const std::string of_clusters = "clusters, and --cluster-rows is none";
  const std::vector<OptionRule> rules = {
      {"--width", graphs, of_graphs},
      {"--list", graphs, of_graphs},
      {"--passes", graphs, of_graphs},
      {"--code-bits", graphs, of_graphs},
      {"--graph-layout", graphs, of_graphs},
      {"--replicas", clusters, of_clusters},
      {"--layout", clusters, of_clusters},
      {"--memory-budget", pages, "slotted pages of graphs on disks"},
      {"--disk-seconds", disk, "--device ssd:PATH"},
      {"--bytes", folder, "--device ssd:FOLDER"},
  };
  refuse_unused(command, rules);
}

void run(const Command& command, AdviseArguments& arguments) {
  measure::AdviceOptions& options = arguments.options;
  options.file.metric = parse_metric(arguments.metric);
  for (const std::string& device : arguments.devices)
    options.devices.push_back(measure::read_device(device));
  options.degrees = numbers(arguments.degrees, "--degree");
  options.cluster_rows = numbers(arguments.cluster_rows, "--cluster-rows");
  options.replicas = measure::split_numbers(arguments.replicas, "--replicas");
  options.layouts = parse_kinds<layout::ClusterLayoutKind>(
      arguments.layouts, layout::kClusterLayouts, layout::parse_cluster_layout);
  options.graph_layouts = parse_kinds<layout::LayoutKind>(
      arguments.graph_layouts, layout::kGraphLayouts, layout::parse_layout_kind);
  options.memory_percents = parse_percents(arguments.budgets);
  check_options(command, arguments);
  measure::JsonLines json(arguments.json);
  const SignalledFolder scratch(arguments.scratch.empty()
                                    ? std::filesystem::temp_directory_path()
                                    : std::filesystem::path(arguments.scratch));
  options.scratch = scratch.path();
  const std::vector<measure::AdviceReport> reports = measure::advise(options);
  for (const measure::AdviceReport& report : reports) {
    measure::print_advice(report);
    json.append(measure::json_text(measure::advice_json(report)));
  }
  json.write();
  for (const measure::AdviceReport& report : reports) {
    if (report.choice) continue;
    throw Error("no index that was tried reaches recall {} within the limits on sizes",
                options.recall);
  }
}

void add_search_options(Command& command, AdviseArguments& arguments) {
  measure::AdviceOptions& options = arguments.options;
  command.add_option("--data", options.file.path, "Vectors that are to be indexed").required();
  command.add_option("--queries", options.queries, "Queries like those to come").required();
  command
      .add_option(
          "--device", arguments.devices,
          "ssd:PATH, a disk that is measured here, or a model: rdma, cxl, nvm, ssd, or a FILE\n"
          "(see below); several, each with its own --device, share the small indexes")
      .required()
      .one_at_a_time();
  command.add_option("--recall", options.recall, "Wanted recall@k").show_default();
  command.add_option("--metric", arguments.metric, "l2, ip or cosine; of bits hamming or jaccard")
      .show_default();
  command.add_option("--k", options.k, "Neighbours wanted").show_default();
  command.add_option("--threads", options.threads, "Cores that search and share the device")
      .show_default();
  command
      .add_option("--max-amplification", options.limits.amplification,
                  "Take no index with more bytes on the memory node or disk than this many times\n"
                  "the data")
      .positive();
  command
      .add_option("--max-dram", options.limits.compute_dram_per_vector,
                  "Nor with more bytes of compute DRAM per vector, buffers of searches not\n"
                  "counted")
      .positive();
}

void add_sample_options(Command& command, measure::AdviceOptions& options) {
  command
      .add_option("--sample", options.sample,
                  "Rows of the largest small indexes; 0: a quarter of the data, 100,000 at\n"
                  "least, and 1 GiB of vectors at most")
      .show_default();
  command
      .add_option("--most-minutes", options.most_minutes,
                  "For building and counting: where they take longer, the largest sample is cut,\n"
                  "but not to less than twice the one before")
      .positive()
      .show_default();
  command.add_option("--most-queries", options.most_queries, "Most queries that are used")
      .show_default();
  command.add_option("--queries-range", options.queries_range, "A:B, rows of the query file [all]");
}

/// Adds options for what is tried.
void add_setting_options(Command& command, AdviseArguments& arguments) {
  command.add_option("--degree", arguments.degrees, "Degrees of the graphs to try, or none")
      .show_default();
  command
      .add_option("--cluster-rows", arguments.cluster_rows, "Vectors per cluster to try, or none")
      .show_default();
  command
      .add_option("--replicas", arguments.replicas, "Clusters that a vector may be in (R), to try")
      .show_default();
  command
      .add_option("--layout", arguments.layouts,
                  "Layouts of clusters to try: all, or some of the five")
      .show_default();
  command
      .add_option(
          "--graph-layout", arguments.graph_layouts,
          "Layouts of graphs to try: all, or some of csr, packed, inline, padded and slotted (for\n"
          "disks)")
      .show_default();
  command
      .add_option(
          "--memory-budget", arguments.budgets,
          "Slotted pages only: memory that searches may use, as shares of the index's bytes,\n"
          "like 10%,20%")
      .show_default();
  command
      .add_option(
          "--bytes", arguments.options.disk_bytes,
          "With --device ssd:FOLDER: size of the file that is written there to measure the\n"
          "disk, and removed afterwards")
      .size()
      .show_default();
  command
      .add_option("--disk-seconds", arguments.options.disk_seconds,
                  "With --device ssd:PATH: of reading the disk, half of them before the small\n"
                  "indexes are built and half after")
      .positive()
      .show_default();
}

void add_recipe_options(Command& command, measure::AdviceOptions& options) {
  command
      .add_option("--width", options.recipe.width, "W: records that a graph search fetches per hop")
      .show_default();
  command.add_option("--list", options.recipe.list, "L: candidates that a graph build keeps")
      .show_default();
  command.add_option("--passes", options.recipe.passes, "Passes of a graph build over all vectors")
      .show_default();
  command.add_option(
      "--code-bits", options.recipe.code_bits,
      "Bits per dimension of a graph's codes, 1 to 8; an inline graph has 4 at most [4,\n"
      "inline 1, more where the samples need more]");
}

void add_run_options(Command& command, AdviseArguments& arguments) {
  measure::AdviceOptions& options = arguments.options;
  command.add_option("--seed", options.seed, "Random seed of the sample and the builds")
      .show_default();
  command.add_option("--scratch", arguments.scratch,
                     "Folder for the small indexes, a few times the sample [temporary files]");
  command.add_option("--json", arguments.json, "File for all figures as one JSON object");
  command.add_flag("--quiet", options.quiet, "No progress");
}

}  // namespace

void register_advise_command(Command& tool) {
  auto arguments = std::make_shared<AdviseArguments>();
  Command command = tool.add_command(
      "advise", "Say which index, layout and parameters suit a data set, a device and a recall");
  add_search_options(command, *arguments);
  add_sample_options(command, arguments->options);
  add_setting_options(command, *arguments);
  add_recipe_options(command, arguments->options);
  add_run_options(command, *arguments);
  command.footer(
      "Small indexes over samples of three sizes are built and searched: what a query counts is\n"
      "carried on to all rows, what it computes is measured on this processor. For ssd:PATH the\n"
      "reads are measured by themselves and as searches wait for them together: PATH is a file\n"
      "or block device, which is only read, or a folder. All other devices are models. A device\n"
      "file has the words latency=, bandwidth=, rate= and, if it is not 64, block=, on lines or\n"
      "with commas between them, after a preset's name or without one; # begins a remark:\n"
      "    latency=3.5us      # until a small read is back\n"
      "    bandwidth=12GB/s   # of large reads\n"
      "    rate=60M/s         # small reads a second, all cores together\n"
      "    block=64           # bytes, the least that the device moves\n"
      "Example:\n  farvec advise --data base.u8bin --queries query.u8bin --device rdma \\\n"
      "    --recall 0.95 --json advice.json\n"
      "  farvec advise --data base.u8bin --queries query.u8bin --device ssd:/data --device ssd");
  command.callback([arguments, command] { run(command, *arguments); });
}

}  // namespace farvec::cli
