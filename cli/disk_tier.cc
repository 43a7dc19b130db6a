#include "cli/disk_tier.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "cli/report/measurement.h"
#include "disk/disk_engine.h"
#include "search/disk_records.h"
#include "search/slotted_disk.h"

namespace farvec::cli {
namespace {

using ssd_baseline::SlottedSearchOptions;

/// A share of the best rate. The fewest slots that reach it are enough: the last tenth of the rate
/// doubles every search's latency.
constexpr double kEnough = 0.9;
/// The part of a memory budget that the pool gets is at least so many times what the searches
/// themselves take.
constexpr std::size_t kPoolShare = 3;

/// Every batch of queries runs on a thread of its own, which rings that belong to one do not bear.
constexpr auto kThread = disk::DiskThread::any;

/// Every one of them with each word of one of its lists.
std::vector<DiskArguments> times(const std::vector<DiskArguments>& lists,
                                 std::string DiskArguments::*member) {
  std::vector<DiskArguments> product;
  for (const DiskArguments& arguments : lists) {
    for (const std::string& word : split_words(arguments.*member)) {
      product.push_back(arguments);
      product.back().*member = word;
    }
  }
  return product;
}

}  // namespace

std::vector<DiskChoice> disk_choices(const DiskArguments& arguments,
                                     const layout::Manifest& manifest) {
  using search::parse_disk_choice;
  std::vector<DiskArguments> each = {arguments};
  each = times(each, &DiskArguments::memory_budget);
  if (manifest.is_slotted()) {
    for (const auto member :
         {&DiskArguments::pool, &DiskArguments::search, &DiskArguments::prefetch,
          &DiskArguments::page_search, &DiskArguments::rerank}) {
      each = times(each, member);
    }
  }
  std::vector<DiskChoice> choices;
  choices.reserve(each.size());
  for (const DiskArguments& one : each) choices.push_back(parse_disk_choice(one, manifest));
  return choices;
}

DiskChoice resolve_rerank(DiskChoice choice, const layout::Manifest& manifest, std::uint32_t k,
                          std::uint32_t list) {
  if (choice.rerank) return choice;
  const bool again = search::reranks_by_itself(manifest);
  choice.rerank = again ? std::max(k, ssd_baseline::reranked(k, list)) : 0;
  return choice;
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
      model_(disk::open_disk({search::open_disk_records(directory, path)}, 1, kThread)
                 ->description()) {}

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

std::vector<std::unique_ptr<search::SearchCore>> DiskTier::make_cores(
    const SlottedSearchOptions& options) const {
  const search::SlottedDisk disk(directory_, index_,
                                 {.path = path_, .searches = options, .load = {.quiet = true}});
  std::vector<std::unique_ptr<search::SearchCore>> cores;
  for (std::uint32_t c = 0; c < options.cores; ++c) cores.push_back(disk.make_core(kThread));
  return cores;
}

}  // namespace farvec::cli
