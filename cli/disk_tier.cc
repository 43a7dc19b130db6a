#include "cli/disk_tier.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "base/error.h"
#include "cli/measurement.h"
#include "compute_node/disk_records.h"
#include "compute_node/slotted_core.h"
#include "ssd_baseline/io/disk_engine.h"

namespace farvec::cli {
namespace {

using ssd_baseline::DiskFile;
using ssd_baseline::SlottedSearchOptions;
using ssd_baseline::SlottedStore;

constexpr std::size_t kProbeQueries = 800;
/// Of the best rate: the last tenth doubles every search's latency.
constexpr double kEnough = 0.9;
constexpr std::uint32_t kMostSlots = 64;
/// Of a budget, the pool has at least so many times what the searches themselves take.
constexpr std::size_t kPoolShare = 3;

std::uint64_t index_bytes(const layout::Manifest& manifest) {
  std::uint64_t sum = 0;
  for (const layout::RegionEntry& region : manifest.regions) sum += region.file_bytes();
  return sum;
}

/// Every batch of queries runs on a thread of its own, which rings that belong to one do not bear.
std::unique_ptr<ssd_baseline::DiskEngine> open_engine(ssd_baseline::DiskFiles files,
                                                      std::uint32_t capacity) {
  return ssd_baseline::open_disk(std::move(files), capacity, ssd_baseline::DiskThread::any);
}

/// Every choice with every value.
template <typename Value>
std::vector<DiskChoice> times(const std::vector<DiskChoice>& choices,
                              const std::vector<Value>& values, Value DiskChoice::*member) {
  std::vector<DiskChoice> product;
  for (DiskChoice choice : choices) {
    for (const Value value : values) {
      choice.*member = value;
      product.push_back(choice);
    }
  }
  return product;
}

template <typename Kind>
std::vector<Kind> parse_all(const std::string& text, Kind (*parse)(std::string_view)) {
  std::vector<Kind> kinds;
  for (const std::string& word : split_words(text)) kinds.push_back(parse(word));
  return kinds;
}

std::vector<DiskChoice> with_searches(const std::vector<DiskChoice>& budgets,
                                      const DiskArguments& arguments) {
  auto choices =
      times(budgets, parse_all(arguments.pool, ssd_baseline::parse_pool_kind), &DiskChoice::pool);
  choices = times(choices, parse_all(arguments.search, ssd_baseline::parse_search_kind),
                  &DiskChoice::search);
  choices = times(choices, split_switches(arguments.prefetch, "--prefetch"), &DiskChoice::prefetch);
  choices = times(choices, split_switches(arguments.page_search, "--page-search"),
                  &DiskChoice::page_search);
  return times(choices, split_numbers(arguments.rerank, "--rerank", 0), &DiskChoice::rerank);
}

}  // namespace

void add_disk_options(CLI::App& command, DiskArguments& arguments, bool lists) {
  const char* const list = lists ? ", separated by commas" : "";
  command.add_option("--memory-budget", arguments.memory_budget,
                     fmt::format("Of --tier ssd: most bytes for codes, pool, maps, buffers and\n"
                                 "searches together, or a share of the index like 20%{} [all\n"
                                 "records fit]. Without a pool: refused when it is too small",
                                 list));
  command
      .add_option(
          "--search", arguments.search,
          fmt::format("Of slotted pages on ssd: best-first, beam (DiskANN's, W records a hop) or\n"
                      "cache-aware (goes on with records in memory){}",
                      list))
      ->capture_default_str();
  command
      .add_option(
          "--pool", arguments.pool,
          fmt::format("Of slotted pages on ssd: what is kept in memory, record, page or none{}",
                      list))
      ->capture_default_str();
  command
      .add_option(
          "--prefetch", arguments.prefetch,
          fmt::format("Of slotted pages on ssd: on reads the W nearest candidates ahead (a\n"
                      "cache-aware search always does){}",
                      list))
      ->capture_default_str();
  command
      .add_option(
          "--page-search", arguments.page_search,
          fmt::format("Of slotted pages on ssd: on expands candidates that come in the page\n"
                      "of another one with it{}",
                      list))
      ->capture_default_str();
  command
      .add_option(
          "--rerank", arguments.rerank,
          fmt::format("Of slotted pages on ssd, built with --payload code --rerank on: reads the\n"
                      "vectors of the N results nearest by their codes (k to L) and answers with\n"
                      "the k nearest by exact distance; a read more for each, recall no longer\n"
                      "bound by the codes. 0: none{}",
                      list))
      ->capture_default_str();
}

std::size_t parse_budget(const std::string& text, const layout::Manifest& manifest) {
  if (!text.ends_with('%')) return parse_number(text, "--memory-budget");
  const std::uint64_t percent =
      parse_number(text.substr(0, text.size() - 1), "--memory-budget (before %)");
  if (percent > 1000) throw Error("--memory-budget: {} is out of range: use 0% to 1000%", text);
  return index_bytes(manifest) * percent / 100;
}

std::vector<DiskChoice> disk_choices(const DiskArguments& arguments,
                                     const layout::Manifest& manifest) {
  std::vector<DiskChoice> choices;
  for (const std::string& text : split_words(arguments.memory_budget)) {
    DiskChoice choice;
    // split_words("") is one empty word
    if (!text.empty()) choice.memory_budget = parse_budget(text, manifest);
    choices.push_back(choice);
  }
  if (manifest.is_slotted()) return with_searches(choices, arguments);
  const DiskArguments defaults;
  if (arguments.search != defaults.search || arguments.pool != defaults.pool ||
      arguments.prefetch != defaults.prefetch || arguments.page_search != defaults.page_search ||
      arguments.rerank != defaults.rerank) {
    throw Error(
        "--search, --pool, --prefetch, --page-search and --rerank are for --layout slotted; this "
        "index is {}",
        manifest.layout_name());
  }
  return choices;
}

DiskChoice one_disk_choice(const DiskArguments& arguments, const layout::Manifest& manifest) {
  const auto choices = disk_choices(arguments, manifest);
  if (choices.size() > 1) {
    throw Error(
        "give one each of --memory-budget, --search, --pool, --prefetch, --page-search and "
        "--rerank: `farvec sweep` compares several");
  }
  return choices.front();
}

DiskTier::DiskTier(const std::string& path, const layout::IndexDirectory& directory,
                   const ssd_baseline::SlottedIndex& index)
    : directory_(directory),
      index_(index),
      path_(path),
      file_(compute_node::open_disk_records(directory, path)) {
  model_ = open_engine({file_}, 1)->description();
}

std::uint32_t DiskTier::affordable_slots(SlottedSearchOptions options) const {
  const auto budget = std::exchange(options.memory_budget, std::nullopt);
  for (options.slots = kMostSlots; budget && options.slots > 1; options.slots /= 2) {
    const ssd_baseline::MemoryPlan needed = plan(options);
    const std::size_t searches = needed.buffers + needed.searches;
    if (needed.fixed() + kPoolShare * searches <= *budget) break;
  }
  return options.slots;
}

double DiskTier::probe_rate(const SlottedSearchOptions& options, VectorView queries,
                            const BatchParameters& parameters) const {
  const std::size_t rows = queries.count;
  // Half of them fill the pool, the others find in it what others than they have left there.
  queries.count = (std::min(rows, kProbeQueries) + 1) / 2;
  const auto cores = make_cores(options);
  dataset::GroundTruth results;
  run_batch(cores, queries, parameters, results);
  if (2 * queries.count <= rows) queries.data = queries.row(queries.count);
  const BatchOutcome outcome = run_batch(cores, queries, parameters, results);
  return static_cast<double>(queries.count) / outcome.seconds;
}

std::uint32_t DiskTier::choose_slots(const SlottedSearchOptions& all, VectorView queries,
                                     const BatchParameters& parameters) const {
  SlottedSearchOptions options = all;
  options.cores = 1;
  std::vector<std::pair<std::uint32_t, double>> rates;
  double best = 0;
  const std::uint32_t most = affordable_slots(all);
  for (options.slots = 1; options.slots <= most; options.slots *= 2) {
    rates.emplace_back(options.slots, probe_rate(options, queries, parameters));
    best = std::max(best, rates.back().second);
  }
  return std::find_if(rates.begin(), rates.end(),
                      [&](const auto& rate) { return rate.second >= kEnough * best; })
      ->first;
}

std::vector<std::unique_ptr<compute_node::SearchCore>> DiskTier::make_cores(
    const SlottedSearchOptions& options) const {
  (void)plan(options);  // before anything is loaded for it
  ssd_baseline::DiskFiles files{file_};
  if (options.rerank > 0) files.push_back(compute_node::open_disk_vectors(directory_, path_));
  const auto store =
      std::make_shared<SlottedStore>(index_, directory_.load_page_map({.quiet = true}), options);
  std::vector<std::unique_ptr<compute_node::SearchCore>> cores;
  for (std::uint32_t c = 0; c < options.cores; ++c) {
    cores.push_back(compute_node::make_slotted_core(
        store, open_engine(files, SlottedStore::reads_per_core(options))));
  }
  return cores;
}

}  // namespace farvec::cli
