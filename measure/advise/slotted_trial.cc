#include "measure/advise/slotted_trial.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/check.h"
#include "dataset/recall.h"
#include "search/core/asked_search.h"
#include "search/core/batch_search.h"

namespace farvec::measure {
namespace {

constexpr std::uint32_t kMostSlottedSlots = 64;
constexpr std::uint32_t kUsualList = 64;
/// The pool has at least this many times what the searches themselves take, as with --slots auto.
constexpr double kPoolShare = 3;

double grown(std::size_t bytes, double growth) {
  return static_cast<double>(bytes) * growth;
}

}  // namespace

PoolShare share_pool(const slotted::MemoryPlan& sample, std::uint64_t index_bytes, double growth,
                     double percent) {
  const double budget = grown(index_bytes, growth) * percent / 100;
  const double fixed = grown(sample.codes + sample.entries + sample.map + sample.table, growth) +
                       static_cast<double>(sample.buffers + sample.searches);
  const double all = grown(sample.pool, growth);
  const double pool = std::min(budget - fixed, all);
  PoolShare share;
  share.whole_bytes = static_cast<std::size_t>(std::min(budget, fixed + all));
  const double least = static_cast<double>(sample.pool) / static_cast<double>(sample.slots);
  if (pool < least) return share;
  share.pool_bytes = pool;
  const double kept = std::max(static_cast<double>(sample.pool) * pool / all, least);
  share.sample_budget = sample.fixed() + static_cast<std::size_t>(std::ceil(kept));
  return share;
}

SlottedTrial::SlottedTrial(const std::filesystem::path& directory, double memory_percent,
                           const VectorView& queries, const TrialOptions& options)
    : options_(options),
      memory_percent_(memory_percent),
      pages_(directory),
      warm_(queries.part(0, queries.count / 2)),
      counted_(queries.part(warm_.count, queries.count - warm_.count)) {
  slots_ = affordable_slots();
}

std::uint32_t SlottedTrial::affordable_slots() {
  for (slots_ = kMostSlottedSlots; slots_ > 1; slots_ /= 2) {
    const slotted::MemoryPlan plan =
        slotted::SlottedStore::plan(pages_.index(), search_options(kUsualList));
    const auto searches = static_cast<double>(plan.buffers + plan.searches);
    if (share(kUsualList).pool_bytes >= kPoolShare * searches) break;
  }
  return slots_;
}

slotted::SlottedSearchOptions SlottedTrial::search_options(std::uint32_t list) const {
  return {.search = slotted::SearchKind::best_first,
          .pool = slotted::PoolKind::record,
          .prefetch = false,
          .slots = slots_,
          .list = list,
          .width = 1,
          .k = options_.k};
}

PoolShare SlottedTrial::share(std::uint32_t list) const {
  const layout::Manifest& manifest = pages_.manifest();
  const double growth =
      static_cast<double>(options_.whole_rows) / static_cast<double>(manifest.count);
  return share_pool(slotted::SlottedStore::plan(pages_.index(), search_options(list)),
                    search::index_bytes(manifest), std::max(growth, 1.0), memory_percent_);
}

/// Searches the first half of the queries to fill the pool, then the second half, whose outcome it
/// returns.
search::BatchOutcome SlottedTrial::search(std::uint32_t list, dataset::GroundTruth& results) const {
  slotted::SlottedSearchOptions options = search_options(list);
  options.memory_budget = share(list).sample_budget;
  FARVEC_CHECK(options.memory_budget.has_value());
  std::vector<std::unique_ptr<search::SearchCore>> cores;
  cores.push_back(pages_.make_core(options));
  const search::BatchParameters parameters{
      .search = search::searchable(search::SearchParameters::make(
          options_.k, search::GraphChoice{.list = list}, search::limits_of(pages_.manifest())))};
  search::run_batch(cores, warm_, parameters, results);
  return search::run_batch(cores, counted_, parameters, results);
}

/// Returns the longest list, of those that it tries, with which the budget still holds a record; 0
/// when none does. Longer lists leave the pool less.
std::uint32_t SlottedTrial::longest_list() const {
  const auto rows =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(pages_.manifest().count, kMostList));
  std::uint32_t most = 0;
  for (std::uint32_t list = std::min(options_.k, rows); list <= rows; list *= 2) {
    if (!share(list).sample_budget) break;
    most = list;
  }
  return most;
}

TrialResult SlottedTrial::count(const dataset::GroundTruth& truth) {
  const layout::Manifest& manifest = pages_.manifest();
  TrialResult result;
  result.rows = manifest.count;
  const std::uint64_t payload = manifest.region(layout::kRecordsRegion).payload_bytes;
  result.size.amplification =
      static_cast<double>(payload) / static_cast<double>(manifest.dataset_bytes());
  result.size.most_slots = slots_;
  const std::uint32_t most = longest_list();
  result.fits = most > 0;
  const auto search_one = [&](std::uint32_t list) {
    dataset::GroundTruth found;
    const auto totals = search(list, found).totals;
    const dataset::ResultRows results{found.ids.data(), found.distances.data(), counted_.count,
                                      found.k};
    return Searched{dataset::recall_at_k(results, truth, options_.k, warm_.count),
                    per_query(totals, counted_.count)};
  };
  if (result.fits) result.reached = reach(search_one, options_.k, most, options_.recall);
  const double list = result.reached ? result.reached->parameter : options_.k;
  result.size.compute_dram_per_vector =
      static_cast<double>(share(static_cast<std::uint32_t>(std::ceil(list))).whole_bytes) /
      static_cast<double>(std::max(options_.whole_rows, manifest.count));
  return result;
}

void SlottedTrial::time(TrialResult& result) {
  FARVEC_CHECK(result.reached.has_value());
  const auto list = static_cast<std::uint32_t>(std::ceil(result.reached->parameter));
  time(list, result.at_target);
  time(std::max((list + 1) / 2, options_.k), result.at_half);
}

void SlottedTrial::time(std::uint32_t list, Timed& timed) const {
  dataset::GroundTruth results;
  for (std::uint32_t pass = 0; pass < options_.passes; ++pass) {
    add_pass(timed, search(list, results), counted_.count, 1);
  }
}

}  // namespace farvec::measure
