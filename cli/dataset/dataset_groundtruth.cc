// The command `farvec dataset groundtruth` finds the exact neighbours of every query.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/command_line.h"
#include "cli/dataset/dataset_commands.h"
#include "dataset/brute_force.h"
#include "dataset/groundtruth.h"
#include "measure/report/json_text.h"
#include "search/searchers/exact_distance.h"

namespace farvec::cli {
namespace {

struct Arguments {
  std::string data;
  std::string queries;
  std::string metric;
  std::string out;
  dataset::BruteForceOptions options;
  bool json = false;
};

void make_groundtruth(const Arguments& arguments) {
  dataset::check_groundtruth_output(arguments.out);
  const auto base = dataset::open_vectors(arguments.data);
  const auto queries = dataset::open_vectors(arguments.queries);
  const auto distance = search::exact_distance(parse_metric(arguments.metric), base->info());
  const auto truth = dataset::exact_neighbors(*base, *queries, distance, arguments.options);
  dataset::write_groundtruth(arguments.out, truth);
  report_groundtruth(arguments.out, truth, arguments.json);
}

}  // namespace

void report_groundtruth(const std::string& out, const dataset::GroundTruth& truth, bool json) {
  if (json) {
    const nlohmann::ordered_json facts{{"out", out}, {"queries", truth.queries}, {"k", truth.k}};
    fmt::print("{}\n", measure::json_text(facts));
    return;
  }
  fmt::print("{}: {} queries, {} neighbours\n", out, truth.queries, truth.k);
}

void register_dataset_groundtruth(Command& dataset) {
  auto arguments = std::make_shared<Arguments>();
  Command command = dataset.add_command(
      "groundtruth", "Find the exact neighbours of every query by comparing it with every row");
  command.add_option("--data", arguments->data, "Base vectors; may be larger than memory")
      .required();
  command.add_option("--queries", arguments->queries, "Queries, of the same type and dimension")
      .required();
  command
      .add_option("--metric", arguments->metric,
                  "l2 (squared), ip (negated) or cosine (1-cos); of bits hamming or jaccard")
      .required()
      .one_of({"l2", "ip", "cosine", "hamming", "jaccard"});
  command.add_option("--k", arguments->options.k, "Neighbours per query").show_default();
  command.add_option("--out", arguments->out, "File to write, .ibin").required();
  command.add_option("--threads", arguments->options.threads, "0: one per processor")
      .show_default();
  command.add_flag("--quiet", arguments->options.quiet, "No progress");
  command.add_flag("--json", arguments->json, "Report as one JSON object");
  command.footer(
      "Equal distances are ordered by the smaller id.\nExample:\n"
      "  farvec dataset groundtruth --data base.u8bin --queries query.u8bin --metric l2 --k 100 "
      "--out gt100.ibin");
  command.callback([arguments] { make_groundtruth(*arguments); });
}

}  // namespace farvec::cli
