// farvec advise: which index to build for a data set, a device and a recall.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/advice/advisor.h"
#include "cli/commands.h"
#include "cli/measurement.h"

namespace farvec::cli {
namespace {

struct AdviseArguments {
  AdviceOptions options;
  std::string metric = "l2";
  std::vector<std::string> devices;
  std::string degrees = "16,32,48";
  std::string cluster_rows = "50,150";
  std::string replicas = "1,4,8";
  std::string layouts = "all";
  std::string json;
};

std::vector<layout::ClusterLayoutKind> parse_layouts(const std::string& text) {
  if (text == "all")
    return {std::begin(layout::kClusterLayouts), std::end(layout::kClusterLayouts)};
  std::vector<layout::ClusterLayoutKind> layouts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    layouts.push_back(layout::parse_cluster_layout(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return layouts;
}

std::vector<std::uint32_t> numbers(const std::string& text, const std::string& option) {
  if (text == "none") return {};
  return split_numbers(text, option);
}

void run(AdviseArguments& arguments) {
  AdviceOptions& options = arguments.options;
  options.file.metric = parse_metric(arguments.metric);
  for (const std::string& device : arguments.devices)
    options.devices.push_back(read_device(device));
  options.degrees = numbers(arguments.degrees, "--degree");
  options.cluster_rows = numbers(arguments.cluster_rows, "--cluster-rows");
  options.replicas = split_numbers(arguments.replicas, "--replicas");
  options.layouts = parse_layouts(arguments.layouts);
  JsonLines json(arguments.json);
  const std::vector<AdviceReport> reports = advise(options);
  for (const AdviceReport& report : reports) {
    print_advice(report);
    json.append(advice_json(report));
  }
  json.write();
  for (const AdviceReport& report : reports) {
    if (report.choice) continue;
    throw Error("no index that was tried reaches recall {} within the limits on sizes",
                options.recall);
  }
}

void add_search_options(CLI::App& command, AdviseArguments& arguments) {
  AdviceOptions& options = arguments.options;
  command.add_option("--data", options.file.path, "Vectors that are to be indexed")->required();
  command.add_option("--queries", options.queries, "Queries like those to come")->required();
  command
      .add_option(
          "--device", arguments.devices,
          "rdma, cxl, nvm, ssd, or a FILE (see below); several, each with its own --device,\n"
          "share the small indexes")
      ->required()
      ->allow_extra_args(false);
  command.add_option("--recall", options.recall, "Wanted recall@k")->capture_default_str();
  command.add_option("--metric", arguments.metric, "l2, ip or cosine")->capture_default_str();
  command.add_option("--k", options.k, "Neighbours wanted")->capture_default_str();
  command.add_option("--threads", options.threads, "Cores that search and share the device")
      ->capture_default_str();
  command
      .add_option("--max-amplification", options.limits.amplification,
                  "Take no index with more bytes on the memory node than so many times the data")
      ->check(CLI::PositiveNumber);
  command
      .add_option("--max-dram", options.limits.compute_dram_per_vector,
                  "Nor with more bytes of compute DRAM per vector")
      ->check(CLI::PositiveNumber);
}

void add_trial_options(CLI::App& command, AdviseArguments& arguments) {
  AdviceOptions& options = arguments.options;
  command
      .add_option("--sample", options.sample,
                  "Rows of the largest small indexes; 0: a quarter of the data, 100,000 at\n"
                  "least, and 1 GiB of vectors at most")
      ->capture_default_str();
  command
      .add_option("--most-minutes", options.most_minutes,
                  "For building and counting: where they take longer, the largest sample is cut,\n"
                  "but not to less than twice the one before")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command.add_option("--most-queries", options.most_queries, "Use at most so many")
      ->capture_default_str();
  command.add_option("--queries-range", options.queries_range, "A:B, rows of the query file [all]");
  command.add_option("--degree", arguments.degrees, "Graphs to try; none")->capture_default_str();
  command.add_option("--cluster-rows", arguments.cluster_rows, "Vectors per cluster to try; none")
      ->capture_default_str();
  command.add_option("--replicas", arguments.replicas, "R of clusters to try")
      ->capture_default_str();
  command.add_option("--layout", arguments.layouts, "Of clusters: all, or some of the four")
      ->capture_default_str();
  command.add_option("--width", options.recipe.width, "W of graph searches")->capture_default_str();
  command.add_option("--list", options.recipe.list, "L of graph builds")->capture_default_str();
  command.add_option("--passes", options.recipe.passes, "Of graph builds")->capture_default_str();
  command.add_option("--code-bits", options.recipe.code_bits, "Of graphs, 1 to 8")
      ->capture_default_str();
  command.add_option("--seed", options.seed, "Of the sample and the builds")->capture_default_str();
  command.add_option("--scratch", options.scratch,
                     "Folder for the small indexes, a few times the sample [temporary files]");
  command.add_option("--json", arguments.json, "File for all figures as one JSON object");
  command.add_flag("--quiet", options.quiet, "No progress");
}

}  // namespace

void register_advise_command(CLI::App& tool) {
  auto arguments = std::make_shared<AdviseArguments>();
  CLI::App* command = tool.add_subcommand(
      "advise", "Say which index, layout and parameters suit a data set, a device and a recall");
  add_search_options(*command, *arguments);
  add_trial_options(*command, *arguments);
  command->footer(
      "Small indexes over samples of three sizes are built and searched: what a query counts is\n"
      "carried on to all rows, what it computes is measured on this processor. A device file\n"
      "has the words latency=, bandwidth=, rate= and, if it is not 64, block=, on lines or with\n"
      "commas between them, after a preset's name or without one; # begins a remark:\n"
      "    latency=3.5us      # until a small read is back\n"
      "    bandwidth=12GB/s   # of large reads\n"
      "    rate=60M/s         # small reads a second, all cores together\n"
      "    block=64           # bytes, the least that the device moves\n"
      "Example:\n  farvec advise --data base.u8bin --queries query.u8bin --device rdma \\\n"
      "    --recall 0.95 --json advice.json");
  command->callback([arguments] { run(*arguments); });
}

}  // namespace farvec::cli
