// The command `farvec search` reads a file of queries and writes a file of neighbours.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/command_line.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "cli/commands.h"
#include "cli/search/plan_option.h"
#include "cli/search/search_rules.h"
#include "cli/search/within_option.h"
#include "client/remote_node.h"
#include "client/remote_search.h"
#include "dataset/recall.h"
#include "measure/report/json_text.h"
#include "measure/report/measurement.h"
#include "measure/sweep/disk_choices.h"
#include "rpc/tls_flags.h"
#include "search/core/asked_search.h"
#include "search/core/batch_search.h"
#include "search/core/queries.h"
#include "search/filter/asked_condition.h"
#include "search/kinds/index_loader.h"
#include "search/searchers/probe_counts.h"
#include "tiers/index_on_tier.h"

namespace farvec::cli {
namespace {

struct SearchArguments {
  std::string index;
  std::string connect;
  std::string queries;
  std::string out;
  std::string groundtruth;
  std::string tier = "dram";
  std::string probe_counts;
  search::AskedSearch parameters;
  std::string plan = "chosen";
  std::string second_tier;
  std::string slots = "auto";
  unsigned threads = 0;
  search::DiskArguments disk;
  std::uint32_t deadline_ms = 10'000;
  std::uint32_t retries = 0;
  bool json = false;
  bool quiet = false;
  rpc::TlsFiles tls;
  bool has_bound = false;  ///< --within was given
};

struct SearchReport {
  double seconds = 0;
  std::size_t queries = 0;
  double coverage = 1;         ///< the least coverage of all queries
  std::size_t incomplete = 0;  ///< queries with fewer than k neighbours
  std::size_t found = 0;       ///< neighbours of all queries
  double recall = -1;          ///< negative: it was not asked for
  bool exact = true;           ///< whether distances are exact, so that they can be compared with
                               ///< the truth's
};

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
    if (report.recall >= 0) facts["recall"] = report.recall;
    if (!arguments.out.empty()) facts["out"] = arguments.out;
    fmt::print("{}\n", measure::json_text(facts));
    return;
  }
  fmt::print("{} queries in {:.3f} s ({:.0f} per second)", report.queries, report.seconds, qps);
  if (report.recall >= 0) {
    fmt::print(", recall@{} {:.4f}", arguments.parameters.k, report.recall);
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

/// Reads one number of slots; returns 0 for "auto".
std::uint32_t one_slots(const std::string& text) {
  const auto slots = measure::split_slots(text);
  if (slots.size() > 1) throw Error("--slots: give one number; `farvec sweep` compares several");
  return slots.front();
}

double search_local(const SearchArguments& arguments, dataset::GroundTruth& results,
                    SearchReport& report) {
  const auto directory = layout::IndexDirectory::open(arguments.index);
  search::BatchParameters batch{
      .search = search::check_limits(arguments.parameters, search::limits_of(directory.manifest())),
      .partial = arguments.parameters.partial,
      .exact = arguments.parameters.exact,
      .within = arguments.parameters.within};
  const std::uint32_t slots = one_slots(arguments.slots);
  const auto index = search::load_search_index(directory, {.quiet = arguments.quiet});
  const auto condition = search::asked_condition(index, arguments.parameters.filter, "--filter");
  batch.condition = condition.get();
  batch.plan = arguments.parameters.plan;
  batch.refine = arguments.parameters.refine;
  batch.candidates = arguments.parameters.candidates;
  const dataset::VectorSet queries =
      search::load_queries(arguments.queries, search::form_of(directory.manifest(), index));
  tiers::IndexRecords records(directory, {.quiet = arguments.quiet});
  const unsigned threads = resolve_threads(arguments.threads);
  const auto spec = tiers::parse_tier(arguments.tier);
  const tiers::IndexOnTier tier(
      *spec,
      {.memory = &records,
       .index = &index,
       .second_tier =
           arguments.second_tier.empty() ? nullptr : tiers::parse_tier(arguments.second_tier),
       .remote = {.tls = arguments.tls, .cores = threads}});
  search::SearchShape shape{.cores = threads,
                            .slots = slots,
                            .k = arguments.parameters.k,
                            .list = arguments.parameters.list,
                            .width = arguments.parameters.width,
                            .probe = arguments.parameters.probing.clusters};
  if (spec->traits().disk)
    shape.disk = measure::one_disk_choice(arguments.disk, directory.manifest());
  shape.disk = search::resolve_rerank(shape.disk, directory.manifest(), shape.k, shape.list);
  report.exact = search::has_exact_distances(directory.manifest(), index, *shape.disk.rerank);
  if (slots == 0) shape.slots = tier.choose_slots(shape, queries.view(), batch);
  if (!arguments.probe_counts.empty()) {
    shape.probe_counts = std::make_shared<search::ProbeCounts>(directory.manifest());
  }
  const auto cores = tier.make_cores(shape);
  Progress progress("queries", queries.count(), arguments.quiet);
  batch.stop = [&progress] {
    progress.advance(1);
    return false;
  };
  const search::BatchOutcome outcome = search::run_batch(cores, queries.view(), batch, results);
  report.coverage = outcome.coverage;
  if (shape.probe_counts) {
    search::write_probe_counts(arguments.probe_counts, shape.probe_counts->tally());
  }
  return outcome.seconds;
}

double search_connected(const SearchArguments& arguments, dataset::GroundTruth& results,
                        SearchReport& report) {
  client::RemoteSearchOptions options;
  options.node.address = arguments.connect;
  options.node.tls = arguments.tls;
  options.parameters = arguments.parameters;
  options.deadline = std::chrono::milliseconds(arguments.deadline_ms);
  options.retries = arguments.retries;
  const auto queries = dataset::open_vectors(arguments.queries);
  Progress progress("queries", queries->info().count, arguments.quiet);
  options.answered = [&progress](std::size_t answered) { progress.advance(answered); };
  const auto start = std::chrono::steady_clock::now();
  client::RemoteResults found = client::search_remote(options, *queries);
  const auto end = std::chrono::steady_clock::now();
  results = std::move(found.neighbors);
  report.coverage = found.coverage;
  return std::chrono::duration<double>(end - start).count();
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

/// Says how many rows a search within a distance finds at most, where the options do not.
void choose_k(const Command& command, SearchArguments& arguments) {
  arguments.has_bound = command.was_given("--within");
  if (!arguments.has_bound) return;
  search::AskedSearch& asked = arguments.parameters;
  if (!command.was_given("--k")) asked.k = search::usual_k(true, limits_of(arguments));
  if (!command.was_given("--list")) asked.list = std::max(asked.list, asked.k);
}

void search(const Command& command, const SearchArguments& given) {
  check_options(command, given);
  SearchArguments arguments = given;
  choose_k(command, arguments);
  arguments.parameters.plan = search::parse_filter_plan(given.plan, "--plan");
  if (!arguments.out.empty()) dataset::check_groundtruth_output(arguments.out);
  dataset::GroundTruth results;
  SearchReport report;
  report.seconds = arguments.connect.empty() ? search_local(arguments, results, report)
                                             : search_connected(arguments, results, report);
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
    report.recall =
        dataset::recall_at_k({results.ids.data(), report.exact ? results.distances.data() : nullptr,
                              results.queries, results.k},
                             truth, results.k);
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
