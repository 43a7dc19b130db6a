// The command `farvec search` reads a file of queries and writes a file of neighbours.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "base/command_line.h"
#include "base/error.h"
#include "base/progress.h"
#include "cli/commands.h"
#include "cli/search/plan_option.h"
#include "cli/search/query_target.h"
#include "cli/search/search_rules.h"
#include "cli/search/within_option.h"
#include "client/remote_node.h"
#include "dataset/recall.h"
#include "measure/report/json_text.h"
#include "rpc/tls_flags.h"

namespace farvec::cli {
namespace {

struct SearchReport {
  double seconds = 0;
  std::size_t queries = 0;
  double coverage = 1;         ///< the least coverage of all queries
  std::size_t incomplete = 0;  ///< queries with fewer than k neighbours
  std::size_t found = 0;       ///< neighbours of all queries
  double recall = -1;          ///< negative: it was not asked for
  std::size_t sample = 0;      ///< queries that chose how far to look, which recall leaves out
  double sample_recall = 0;    ///< what these have
};

/// Says how far a search looks.
std::string effort(const search::AskedSearch& asked, const measure::SearchReach& reach) {
  if (asked.exact) return "exact search";
  const std::string list = fmt::format("--list {}", asked.list);
  if (reach.bounds.kind == layout::IndexKind::graph) return list;
  return fmt::format("--probe {}{}", asked.probing.clusters,
                     reach.clusters_have_lists ? " " + list : "");
}

double found_per_query(const SearchReport& report) {
  return report.queries == 0
             ? 0
             : static_cast<double>(report.found) / static_cast<double>(report.queries);
}

void print_report(const SearchArguments& arguments, const SearchReport& report) {
  const double qps = static_cast<double>(report.queries) / report.seconds;
  if (arguments.json) {
    nlohmann::ordered_json facts{{"queries", report.queries},
                                 {"k", arguments.parameters.k},
                                 {"list", arguments.parameters.list},
                                 {"width", arguments.parameters.width},
                                 {"probe", arguments.parameters.probing.clusters},
                                 {"seconds", report.seconds},
                                 {"qps", qps},
                                 {"coverage", report.coverage},
                                 {"incomplete", report.incomplete}};
    if (!arguments.parameters.filter.empty()) facts["filter"] = arguments.parameters.filter;
    if (arguments.has_bound) {
      facts["within"] = arguments.parameters.within;
      facts["found_per_query"] = found_per_query(report);
    }
    if (report.sample > 0) {
      facts["sample_queries"] = report.sample;
      facts["sample_recall"] = report.sample_recall;
    }
    if (report.recall >= 0) facts["recall"] = report.recall;
    if (!arguments.out.empty()) facts["out"] = arguments.out;
    fmt::print("{}\n", measure::json_text(facts));
    return;
  }
  fmt::print("{} queries in {:.3f} s ({:.0f} per second)", report.queries, report.seconds, qps);
  if (report.recall >= 0) {
    fmt::print(", recall@{} {:.4f}{}", arguments.parameters.k, report.recall,
               report.sample > 0 ? " of the queries that did not choose" : "");
  }
  if (arguments.has_bound) {
    fmt::print(", {:.1f} rows a query within {:g}, {} with k = {}", found_per_query(report),
               arguments.parameters.within, report.queries - report.incomplete,
               arguments.parameters.k);
  } else if (report.incomplete > 0) {
    fmt::print(", {} with fewer than k", report.incomplete);
  }
  if (report.coverage < 1) fmt::print(", coverage down to {:.3f}", report.coverage);
  fmt::print("\n");
}

/// The most queries that choose how far to look.
constexpr std::size_t kMostSample = 500;

/// Chooses how far to look by the first half of the queries.
void choose_effort(QueryTarget& target, SearchArguments& arguments, SearchReport& report) {
  const measure::SearchReach reach = target.reach();
  report.sample = std::min((target.queries() + 1) / 2, kMostSample);
  const auto sample = [&](const search::AskedSearch& asked) {
    Progress progress("choosing: " + effort(asked, reach), report.sample, arguments.quiet);
    QueryAnswers answers = target.try_out(asked, report.sample, progress);
    return measure::SampleAnswers{std::move(answers.found), answers.exact_distances};
  };
  const measure::ChosenSearch chosen =
      measure::choose_for_recall(arguments.parameters, reach, arguments.recall, sample);
  arguments.parameters = chosen.asked;
  report.sample_recall = chosen.recall;
  if (arguments.quiet || arguments.json) return;
  fmt::print("chosen: {}, with which the first {} queries have recall@{} {:.4f}\n",
             effort(chosen.asked, reach), report.sample, arguments.parameters.k, chosen.recall);
}

/// Refuses options that would be ignored, before anything is loaded.
void check_options(const Command& command, const SearchArguments& arguments) {
  if (arguments.index.empty() == arguments.connect.empty()) {
    throw Error("give either --index DIR or --connect ADDRESS");
  }
  if (command.was_given("--within") && command.was_given("--groundtruth")) {
    throw Error("{}", kNoTruthWithin);
  }
  if (arguments.index.empty()) return refuse_local_options(command);
  const auto directory = layout::IndexDirectory::open(arguments.index);
  const tiers::TierSpecPointer tier = tiers::parse_tier(arguments.tier);
  refuse_unused_options(command, {directory.manifest(), arguments.index, {&tier, 1}});
}

search::SearchBounds limits_of(const SearchArguments& arguments) {
  if (arguments.connect.empty()) {
    return search::limits_of(layout::IndexDirectory::open(arguments.index).manifest());
  }
  const client::NodeAccess node{.address = arguments.connect, .tls = arguments.tls};
  return client::limits_of(client::describe_node(*client::connect_to_node(node), node));
}

/// Refuses options that --recall chooses, or that leave nothing to choose.
void check_recall(const Command& command, const SearchArguments& arguments) {
  if (arguments.recall == 0) return;
  for (const char* option :
       {"--list", "--probe", "--refine", "--candidates", "--exact", "--within"}) {
    if (command.was_given(option)) {
      throw Error("--recall and {}: give one of both; --recall chooses how far to look", option);
    }
  }
}

/// Says how many rows a search within a distance finds at most, where the options do not.
void choose_k(const Command& command, SearchArguments& arguments) {
  arguments.has_bound = command.was_given("--within");
  if (!arguments.has_bound) return;
  search::AskedSearch& asked = arguments.parameters;
  if (!command.was_given("--k")) asked.k = search::usual_k(true, limits_of(arguments));
  if (!command.was_given("--list")) asked.list = std::max(asked.list, asked.k);
}

/// Returns the recall of all queries but the first ones.
double recall_after(const QueryAnswers& answers, std::size_t sample,
                    const dataset::GroundTruth& truth) {
  const dataset::GroundTruth& found = answers.found;
  const std::size_t first = sample < found.queries ? sample : 0;
  const float* const distances =
      answers.exact_distances ? found.distances.data() + first * found.k : nullptr;
  return dataset::recall_at_k(
      {found.ids.data() + first * found.k, distances, found.queries - first, found.k}, truth,
      found.k, first);
}

void search(const Command& command, const SearchArguments& given) {
  check_options(command, given);
  check_recall(command, given);
  SearchArguments arguments = given;
  choose_k(command, arguments);
  if (arguments.recall > 0) {
    arguments.parameters.list = std::max(arguments.parameters.list, arguments.parameters.k);
  }
  arguments.parameters.plan = search::parse_filter_plan(given.plan, "--plan");
  if (!arguments.out.empty()) dataset::check_groundtruth_output(arguments.out);
  SearchReport report;
  const std::unique_ptr<QueryTarget> target = open_query_target(arguments);
  if (arguments.recall > 0) choose_effort(*target, arguments, report);
  Progress progress("queries", target->queries(), arguments.quiet);
  const QueryAnswers answers = target->search(arguments.parameters, progress);
  progress.clear();
  const dataset::GroundTruth& results = answers.found;
  report.seconds = answers.seconds;
  report.coverage = answers.coverage;
  report.queries = results.queries;
  for (std::size_t q = 0; q < results.queries; ++q) {
    const auto row = results.ids.begin() + static_cast<std::ptrdiff_t>(q * results.k);
    const auto missing = std::count(row, row + results.k, kInvalidNode);
    report.incomplete += missing > 0 ? 1 : 0;
    report.found += results.k - static_cast<std::size_t>(missing);
  }
  if (!arguments.out.empty()) dataset::write_groundtruth(arguments.out, results);
  if (!arguments.groundtruth.empty()) {
    const auto truth = dataset::read_groundtruth(arguments.groundtruth);
    report.recall = recall_after(answers, report.sample, truth);
  }
  print_report(arguments, report);
}

/// Adds what a search is asked for.
void add_parameters(Command& command, SearchArguments& a) {
  command.add_option("--k", a.parameters.k, "Neighbours wanted").show_default();
  command
      .add_option("--list", a.parameters.list,
                  "L: candidates kept, at least k; of coded clusters, vectors that are read")
      .show_default();
  command.add_option("--width", a.parameters.width, "W: records fetched per hop").show_default();
  command
      .add_option("--probe", a.parameters.probing.clusters,
                  "Cluster indexes only: most clusters to search")
      .show_default();
  command
      .add_option(
          "--prune-ratio", a.parameters.probing.prune_ratio,
          "Cluster indexes only: leave out a cluster whose centroid is more than this many\n"
          "times as far away as the nearest one [keep all]")
      .range(1.0, 1e6);
  command.add_flag("--exact", a.parameters.exact,
                   "Compare every query with all vectors, whatever --list or --probe says");
  command
      .add_option("--recall", a.recall,
                  "Choose the least --list (of clusters: --probe, then --list) whose answers to\n"
                  "the first half of the queries, at most 500, have this share of what an exact\n"
                  "search finds; --groundtruth then tells the recall of the others")
      .range(0.01, 1.0);
  add_within_option(command, a.parameters.within);
  command.add_option("--filter", a.parameters.filter,
                     "Condition that results meet, of an index that has attributes (`farvec\n"
                     "attributes`) or, with --connect, of a collection: \"price < 20\"");
  add_plan_option(command, a.plan);
  command
      .add_option("--refine", a.parameters.refine,
                  "For an index with a second copy of its vectors: how many times k candidates\n"
                  "it ranks again, at most the list [the whole list]")
      .positive();
  command.add_flag("--candidates", a.parameters.candidates,
                   "For an index with a second copy: results are the candidates themselves, with\n"
                   "the distances of the index");
}

}  // namespace

void register_search_command(Command& tool) {
  auto arguments = std::make_shared<SearchArguments>();
  SearchArguments& a = *arguments;
  Command command = tool.add_command("search", "Find the nearest neighbours of every query");
  command.add_option("--index", a.index, "Index directory, searched in this process");
  command.add_option("--connect", a.connect, "Compute node to ask: HOST:PORT or unix:/path");
  command
      .add_option("--deadline-ms", a.deadline_ms,
                  "With --connect: milliseconds that each call of up to 64 queries may take")
      .range(1, 3'600'000)
      .show_default();
  command
      .add_option("--retries", a.retries,
                  "With --connect: times that a call is tried again when the node is too busy\n"
                  "(RESOURCE_EXHAUSTED) or has no index (UNAVAILABLE): after 10 ms at first, then\n"
                  "twice as long each time up to 1 s, or when the node says")
      .range(0, 1'000)
      .show_default();
  command.add_option("--queries", a.queries, "Vector file").required();
  add_parameters(command, a);
  command.add_option("--out", a.out, "Result file, .ibin like ground truth");
  command.add_option("--groundtruth", a.groundtruth, "True neighbours, to print the recall");
  command.add_option("--probe-counts", a.probe_counts,
                     "With --index of clusters: file for how often each one was searched, for\n"
                     "`farvec regroup`; `farvec probe-counts` asks compute nodes for it");
  command.add_option("--tier", a.tier, "With --index: as in `farvec sweep`").show_default();
  command.add_option("--second-tier", a.second_tier,
                     "With --index: where the second copy is read from [--tier]");
  command.add_flag("--partial", a.parameters.partial,
                   "Over several memory nodes: answer without records of which no replica is left, "
                   "and print how much of the index was there");
  search::add_disk_options(command, a.disk, false);
  command.add_option("--slots", a.slots, "Searches in flight per core; auto: as in `farvec sweep`")
      .show_default();
  command.add_option("--threads", a.threads, "0: one per processor").show_default();
  command.add_flag("--quiet", a.quiet, "No progress");
  command.add_flag("--json", a.json, "Report as one JSON object");
  rpc::add_tls_flags(command, a.tls);
  command.footer(
      "Example:\n"
      "  farvec search --index sift1m.index --queries query.u8bin --k 10 --list 60 \\\n"
      "    --out found.ibin --groundtruth gt100.ibin\n"
      "  farvec search --connect 127.0.0.1:7711 --queries query.u8bin --k 10 --list 60");
  command.callback([arguments, command] { search(command, *arguments); });
}

}  // namespace farvec::cli
