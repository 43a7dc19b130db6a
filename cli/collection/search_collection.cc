// The command `farvec collection search` finds the nearest live vectors of every query.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "attributes/condition.h"
#include "base/error.h"
#include "base/option_rules.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/stored_form.h"
#include "cli/collection/collection_commands.h"
#include "cli/collection/collection_options.h"
#include "cli/collection/collection_place.h"
#include "cli/search/filter_option.h"
#include "cli/search/plan_option.h"
#include "cli/search/within_option.h"
#include "collection/read/collection_reader.h"
#include "collection/search/collection_part.h"
#include "dataset/groundtruth.h"
#include "dataset/recall.h"
#include "dataset/vector_set.h"
#include "layout/collection/collection_manifest.h"
#include "measure/report/json_text.h"
#include "measure/report/machine.h"
#include "measure/report/measurement.h"
#include "measure/report/statistics.h"
#include "measure/report/table.h"
#include "rpc/tls_flags.h"
#include "search/core/asked_search.h"
#include "search/core/batch_search.h"
#include "search/core/disk_options.h"
#include "search/core/queries.h"
#include "search/core/search_shape.h"
#include "tiers/tier_spec.h"

namespace farvec::cli {
namespace {

using collection::CollectionReader;

struct SearchArguments {
  CollectionPlace place;
  rpc::TlsFiles tls;
  std::string queries;
  std::string groundtruth;
  std::string lists = "64";
  std::string probes = "16";
  std::string tier = "dram";
  std::string second_tier;
  std::string filter;
  search::DiskArguments disk;
  std::string json;
  std::uint32_t k = 10;
  std::uint32_t width = 1;
  std::uint32_t refine = 0;
  std::uint32_t slots = 16;
  std::uint32_t threads = 1;
  std::uint32_t passes = 1;
  bool exact = false;
  std::string plan = "chosen";
  float within = std::numeric_limits<float>::infinity();
  bool quiet = false;
};

/// The most neighbours of a query: there are arrays for this many, however few vectors there are.
constexpr unsigned kMostResults = 1u << 20;

/// Returns the columns. The first one shows what segments of the kind are searched with. A search
/// within a distance shows how many rows a query has found.
constexpr std::array<measure::Column, 8> columns_of(layout::IndexKind kind, bool is_within) {
  const bool graph = kind == layout::IndexKind::graph;
  return {{{graph ? "list" : "probe", 6},
           {is_within ? "found" : "recall", 8},
           {"QPS", 10},
           {"p50 us", 9},
           {"p99 us", 9},
           {"reads", 8},
           {"distances", 10},
           {"KB", 8}}};
}

/// Returns the lists to search with.
std::vector<std::uint32_t> lists_of(const SearchArguments& arguments) {
  return measure::split_numbers(arguments.lists, "--list", arguments.k);
}

/// Returns what to search with, one after the other. Clusters have one list, which says how many
/// candidates are ranked again.
std::vector<search::SearchChoice> choices_of(const SearchArguments& arguments,
                                             layout::IndexKind kind) {
  std::vector<search::SearchChoice> choices;
  switch (kind) {
    case layout::IndexKind::graph:
      for (const auto list : lists_of(arguments)) {
        choices.push_back(search::GraphChoice{.list = list, .width = arguments.width});
      }
      break;
    case layout::IndexKind::cluster:
      if (lists_of(arguments).size() > 1) {
        throw Error("--list {}: clusters are searched with one list: use --probe for several",
                    arguments.lists);
      }
      for (const auto clusters : measure::split_numbers(arguments.probes, "--probe")) {
        choices.push_back(
            search::ProbeChoice{.clusters = clusters, .list = lists_of(arguments).front()});
      }
      break;
  }
  return choices;
}

/// Searches a collection with queries, which it holds in stored form, and measures that.
class Measurement {
 public:
  /// Prepares for measure() of `choices` choices.
  Measurement(const SearchArguments& arguments, const CollectionReader& reader,
              const collection::SegmentAccess& access, std::size_t choices)
      : arguments_(arguments),
        reader_(reader),
        access_(access),
        queries_(load(arguments, reader.shape())),
        condition_(parse_filter(arguments.filter, reader.shape().schema)),
        progress_("queries", choices * arguments.passes * queries_.count(), arguments.quiet) {
    if (!arguments.groundtruth.empty()) truth_ = dataset::read_groundtruth(arguments.groundtruth);
    for (std::uint32_t c = 0; c < arguments.threads; ++c) {
      cores_.push_back(
          collection::make_collection_core([&reader] { return reader.view(); }, arguments.slots));
    }
  }

  nlohmann::ordered_json measure(const search::SearchChoice& choice) {
    const search::BatchParameters batch{
        .search = search::searchable(search::SearchParameters::make(arguments_.k, choice)),
        .exact = arguments_.exact,
        .within = arguments_.within,
        .condition = condition_.get(),
        .plan = search::parse_filter_plan(arguments_.plan, "--plan"),
        .refine = arguments_.refine,
        .stop = [this] {
          progress_.advance(1);
          return false;
        }};
    std::vector<double> rates;
    search::BatchOutcome outcome;
    dataset::GroundTruth found;
    for (std::uint32_t pass = 0; pass < arguments_.passes; ++pass) {
      outcome = search::run_batch(cores_, queries_.view(), batch, found);
      rates.push_back(static_cast<double>(queries_.count()) / outcome.seconds);
    }
    progress_.clear();  // makes room for the row
    return row(choice, rates, outcome, found);
  }

 private:
  static dataset::VectorSet load(const SearchArguments& arguments,
                                 const layout::CollectionManifest& shape) {
    dataset::VectorSet queries = dataset::load(arguments.queries, {.metric = shape.metric});
    if (queries.type() != shape.source_type || queries.dimension() != shape.dimension) {
      throw Error("'{}' has vectors of {} x {}, the collection {} x {}", arguments.queries,
                  queries.dimension(), to_string(queries.type()), shape.dimension,
                  to_string(shape.source_type));
    }
    return search::fit_queries(
        std::move(queries), arguments.queries,
        {shape.metric, shape.source_type, shape.stored_type, shape.dimension});
  }

  nlohmann::ordered_json row(const search::SearchChoice& choice, const std::vector<double>& rates,
                             search::BatchOutcome& outcome,
                             const dataset::GroundTruth& found) const {
    const measure::Summary summary(rates);
    const auto queries = static_cast<double>(queries_.count());
    const auto& totals = outcome.totals;
    nlohmann::ordered_json row{{"tier", access_.tier->name()}, {"k", arguments_.k}};
    const bool graph = search::kind_of(choice) == layout::IndexKind::graph;
    row[graph ? "list" : "probe"] = search::size_of(choice);
    if (graph) row["width"] = arguments_.width;
    row.update(nlohmann::ordered_json{
        {"slots", arguments_.slots},
        {"threads", arguments_.threads},
        {"qps", summary.median},
        {"qps_least", summary.least},
        {"qps_most", summary.most},
        {"p50_us", measure::percentile(outcome.latency_us, 0.5)},
        {"p99_us", measure::percentile(outcome.latency_us, 0.99)},
        {"hops_per_query", static_cast<double>(totals.hops) / queries},
        {"reads_per_query", static_cast<double>(totals.reads) / queries},
        {"distances_per_query", static_cast<double>(totals.distances) / queries},
        {"bytes_per_query", static_cast<double>(totals.bytes) / queries}});
    if (reader_.shape().options.store) {
      row["rerank_reads_per_query"] = static_cast<double>(totals.rerank_reads) / queries;
    }
    if (arguments_.exact) row["exact"] = true;
    if (std::isfinite(arguments_.within)) {
      row["within"] = arguments_.within;
      const auto count = std::count_if(found.distances.begin(), found.distances.end(),
                                       [](float distance) { return std::isfinite(distance); });
      row["found_per_query"] = static_cast<double>(count) / queries;
    }
    if (graph) {
      row["walks"] = static_cast<double>(totals.walks) / queries;
      row["scans"] = static_cast<double>(totals.scans) / queries;
      row["bridges"] = static_cast<double>(totals.bridges) / queries;
    }
    if (condition_ != nullptr) {
      row["filter"] = arguments_.filter;
      row["matches"] = static_cast<double>(totals.matches) / queries;
    }
    if (reader_.shape().options.in_pages()) add_pools(totals, row);
    if (truth_.queries > 0) {
      const layout::CollectionManifest& shape = reader_.shape();
      const bool exact =
          !stores_unit_vectors(shape.metric) && shape.stored_type == shape.source_type;
      row["recall"] = dataset::recall_at_k(
          {found.ids.data(), exact ? found.distances.data() : nullptr, found.queries, found.k},
          truth_, found.k);
    }
    return row;
  }

  /// Adds what the pools of slotted pages hold, and how often records were there.
  void add_pools(const search::QueryCounts& totals, nlohmann::ordered_json& row) const {
    const search::SearchShape& shape = access_.shape;
    row["page_search"] = search::to_string(shape.disk);
    const auto asked = static_cast<double>(totals.cache_hits + totals.pool_misses);
    row["pool_hit_rate"] = asked > 0 ? static_cast<double>(totals.cache_hits) / asked : 0;
    if (shape.pools == nullptr) return;
    row["memory_budget"] = shape.pools->bytes();
    row["memory_bytes"] = shape.pools->used();
  }

  const SearchArguments& arguments_;
  const CollectionReader& reader_;
  const collection::SegmentAccess& access_;  ///< how the segments' records are read
  const dataset::VectorSet queries_;
  dataset::GroundTruth truth_;
  const attributes::ConditionPointer condition_;  ///< null: every row may be a result
  std::vector<std::unique_ptr<search::SearchCore>> cores_;
  Progress progress_;
};

void print(const nlohmann::ordered_json& row, layout::IndexKind kind) {
  const auto number = [&](const char* name, int digits) {
    return fmt::format("{:.{}f}", row.at(name).get<double>(), digits);
  };
  const bool is_within = row.contains("within");
  const auto columns = columns_of(kind, is_within);
  const std::string recall = row.contains("recall") ? number("recall", 4) : "-";
  measure::print_row(
      columns,
      {std::to_string(row.at(std::string(columns[0].title)).get<std::uint32_t>()),
       is_within ? number("found_per_query", 1) : recall, number("qps", 0), number("p50_us", 0),
       number("p99_us", 0), number("reads_per_query", 1), number("distances_per_query", 1),
       fmt::format("{:.1f}", row.at("bytes_per_query").get<double>() / 1e3)});
}

void refuse_other_kind(const Command& command, const layout::CollectionOptions& options) {
  const bool graph = options.kind == layout::IndexKind::graph;
  const bool second = options.store.has_value();
  std::vector<OptionRule> rules{
      {"--list", graph || second, "collections of graphs or with --store"},
      {"--refine", second, "collections with --store"},
      {"--second-tier", second, "collections with --store"},
      {"--width", graph, "collections of graphs"},
      {"--probe", !graph, "collections of clusters"}};
  const std::string pages = "collections of slotted pages";
  rules.push_back({"--memory-budget", options.in_pages(), pages});
  for (const char* option : search::kPageOptions) {
    rules.push_back({option, options.in_pages(), pages});
  }
  refuse_unused(command, rules);
}

/// Throws StatusError unless each search has as many candidates as it is to rank again.
void check_refine(const SearchArguments& arguments,
                  const std::vector<search::SearchChoice>& choices) {
  for (const search::SearchChoice& choice : choices) {
    const auto search = search::searchable(search::SearchParameters::make(arguments.k, choice));
    const search::RefineChoice refine{.refine = arguments.refine};
    if (search::find_fault(refine, search, {.refines = true}) == search::SearchFault::none)
      continue;
    throw Error(
        "--refine: {} times {} results are more than the candidates of a search, which are {}: "
        "use a longer --list",
        arguments.refine, arguments.k, search.candidates());
  }
}

/// Says how many rows a search within a distance finds at most, where the options do not.
void choose_k(const Command& command, SearchArguments& arguments) {
  if (!command.was_given("--within")) return;
  if (command.was_given("--groundtruth")) throw Error("{}", kNoTruthWithin);
  if (!command.was_given("--k")) arguments.k = search::kUsualWithin;
  if (!command.was_given("--list")) arguments.lists = std::to_string(std::max(64u, arguments.k));
}

void search(const Command& command, const SearchArguments& given) {
  SearchArguments arguments = given;
  choose_k(command, arguments);
  OpenedPlace place =
      open_place(command, arguments.place, arguments.tls, arguments.tier, arguments.threads);
  const layout::CollectionOptions options = place.source->manifest().options;
  const layout::IndexKind kind = options.kind;
  refuse_other_kind(command, options);
  const std::vector<search::SearchChoice> choices = choices_of(arguments, kind);
  check_refine(arguments, choices);
  measure::JsonLines lines(arguments.json);
  collection::SegmentAccess& access = place.access;
  if (access.nodes == nullptr && !command.was_given("--tier")) {
    access = collection::SegmentAccess::on(collection::usual_tier(options));
  }
  if (!arguments.second_tier.empty()) {
    collection::set_second_tier(access, arguments.second_tier);
  }
  if (options.in_pages()) search::set_shared_pools(access.shape, arguments.disk);
  access.shape.cores = arguments.threads;
  access.shape.slots = arguments.slots;
  access.shape.k = arguments.k;
  if (options.store) access.shape.list = std::ranges::max(lists_of(arguments));
  search::set_largest(
      access.shape,
      *std::max_element(choices.begin(), choices.end(), [](const auto& a, const auto& b) {
        return search::size_of(a) < search::size_of(b);
      }));
  CollectionReader reader(*place.source, access, {.log_nodes = place.log_nodes});
  tell_recovery(reader.recovery(), false);
  reader.link(0);
  Measurement measurement(arguments, reader, access, choices.size());
  const auto view = collection::view_json(*reader.view());
  fmt::print("{} vectors, {} of them fresh, in {} segments; {}\n",
             view.at("vectors").get<std::uint64_t>(),
             view.at("memtable_vectors").get<std::uint64_t>(),
             view.at("segments").get<std::uint64_t>(), measure::host_description());
  measure::print_header(columns_of(kind, std::isfinite(arguments.within)));
  for (const search::SearchChoice& choice : choices) {
    nlohmann::ordered_json row = measurement.measure(choice);
    print(row, kind);
    row["collection"] = view;
    row["host"] = measure::host_description();
    lines.append(measure::json_text(row));
  }
  lines.write();
}

}  // namespace

void register_collection_search(Command& collection) {
  auto arguments = std::make_shared<SearchArguments>();
  SearchArguments& a = *arguments;
  Command command = collection.add_command("search", "Find the nearest vectors of every query");
  add_place_options(command, a.place).required();
  command.add_option("--queries", a.queries, "Vector file").required();
  command.add_option("--groundtruth", a.groundtruth,
                     "True neighbours by their ids, for recall (.ibin, .gt100)");
  command.add_option("--filter", a.filter,
                     "Condition that results meet: \"section in ('libs', 'doc') and price < 20\"");
  add_plan_option(command, a.plan);
  command.add_flag("--exact", a.exact,
                   "Compare every query with all vectors, whatever --list or --probe says");
  add_within_option(command, a.within);
  command.add_option("--k", a.k, "Neighbours wanted").range(1u, kMostResults).show_default();
  command.add_option("--list", a.lists, "L: candidates kept, one or several: 20,40,80")
      .show_default();
  command.add_option("--width", a.width, "W: records fetched per hop")
      .range(1u, 64u)
      .show_default();
  command.add_option("--probe", a.probes, "How many clusters are searched, one number or several")
      .show_default();
  command.add_option("--tier", a.tier,
                     "Where records lie: " + tiers::tier_usage(tiers::TierUse::here) +
                         " [dram; of slotted pages ssd]");
  command.add_option("--second-tier", a.second_tier,
                     "With --store: where the second copies are read from [--tier]");
  command
      .add_option("--refine", a.refine,
                  "With --store: R times k candidates of each segment are ranked again by its\n"
                  "second copy [the whole list]")
      .positive();
  search::add_disk_options(command, a.disk, false);
  command.add_option("--slots", a.slots, "Searches in flight on each thread")
      .range(1u, 64u)
      .show_default();
  command.add_option("--threads", a.threads, "Threads that search").range(1u, 1024u).show_default();
  command.add_option("--passes", a.passes, "Times that all queries are searched; the median counts")
      .range(1u, 1000u)
      .show_default();
  command.add_flag("--quiet", a.quiet, "No progress");
  command.add_option("--json", a.json, "File for a JSON object per row");
  rpc::add_tls_flags(command, a.tls);
  command.footer(
      "Searches the collection as its files or its memory nodes have it when the command begins,\n"
      "also beside a process that changes it.\n"
      "Example:\n  farvec collection search --collection set --queries query.fbin \\\n"
      "    --groundtruth gt.ibin --list 20,40,80 --tier emulated:rdma\n"
      "  farvec collection search --collection nodes:set --queries query.fbin --log-nodes m0:7700 "
      "\\\n"
      "    --log-tier verbs --segment-nodes m0:7700 --segment-tier verbs\n"
      "  farvec collection search --collection set --queries query.fbin \\\n"
      "    --filter \"tags contains any ('new') and not price between 10 and 20\"");
  command.callback([arguments, command] { search(command, *arguments); });
}

}  // namespace farvec::cli
