#include "measure/sweep/tier_cell.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.h"
#include "measure/report/statistics.h"
#include "measure/sweep/kind_rows.h"
#include "search/core/asked_search.h"
#include "search/core/queries.h"

namespace farvec::measure {

TierCell::TierCell(const SweepPoint& point, SweepTier& tier, const ReportContext& context)
    : point_(point), tier_(tier), context_(context), queries_(context.queries) {
  parameters_.stop = queries_.interrupted;
  parameters_.condition = queries_.condition.get();
  if (tier.open == nullptr) return;
  const search::SearchShape largest = shape();
  point_.disk = search::resolve_rerank(point_.disk, tier.open->manifest(), largest.k, largest.list);
  if (point_.slots != 0) return;
  if (tier.open->measures_slots()) {
    point_.auto_slots = true;
  } else {
    choose_slots();
  }
}

bool TierCell::pooled() const {
  return tier_.open != nullptr && tier_.open->manifest().is_slotted();
}

search::SearchShape TierCell::shape() const {
  search::SearchShape shape{.cores = point_.threads,
                            .slots = point_.slots,
                            .cache_bytes = point_.cache_bytes / point_.threads,
                            .k = queries_.k,
                            .disk = point_.disk,
                            .merge_gap_bytes = context_.merge_gap};
  search::set_largest(shape, point_.choice);
  return shape;
}

/// Makes the parameters of the searches. Throws Error when the combination cannot be searched.
void TierCell::make_parameters() {
  parameters_.search = search::searchable(search::SearchParameters::make(
      queries_.k, point_.choice, search::limits_of(tier_.open->manifest())));
}

void TierCell::choose_slots() {
  const VectorView probes = queries_.warm_rows.empty() ? queries_.rows : queries_.warm_rows.front();
  point_.slots = tier_.open->choose_slots(shape(), probes, parameters_);
}

/// Chooses the slots by measuring. First it lets memory_bytes() throw what is wrong with the
/// memory.
void TierCell::measure_slots() {
  search::SearchShape least = shape();
  least.slots = 1;
  (void)tier_.open->memory_bytes(least);
  choose_slots();
}

double TierCell::probe_seconds() {
  if (tier_.open == nullptr) return 0;
  make_parameters();
  search::SearchShape wanted = shape();
  if (wanted.slots == 0) wanted.slots = search::SearchShape{}.slots;
  const auto cores = tier_.open->make_cores(wanted);
  return queries_.probe_seconds(cores, parameters_);
}

std::string TierCell::pace() const {
  return fmt::format("{} {}", point_.tier, point_.slots * point_.threads);
}

double TierCell::work() const {
  return std::max(1u, search::size_of(point_.choice));
}

/// Returns the number of searches that do not end with the time of a pass.
double TierCell::unbounded_searches() const {
  const auto rows = static_cast<double>(queries_.rows.count);
  const auto warm = static_cast<double>(queries_.warm_count());
  const double choosing = point_.auto_slots ? tiers::IndexOnTier::kChoosingSearches : 0;
  if (pooled()) return choosing + rows + queries_.passes * warm;
  return choosing + (point_.cache_bytes > 0 ? 2 * rows : rows);
}

double TierCell::seconds(double search_seconds) const {
  const double once = search_seconds * static_cast<double>(queries_.rows.count);
  const double pass = queries_.pass_ms / 1000;
  const double passes =
      pooled() ? (queries_.passes - 1) * std::min(pass, once) : queries_.passes * pass;
  return unbounded_searches() * search_seconds + passes;
}

void TierCell::prepare() {
  if (tier_.open == nullptr) throw Error("{}", tier_.failure);
  make_parameters();  // this comes first, because memory is planned for searches that are possible
  if (point_.slots == 0) measure_slots();
  samples_.memory_bytes = tier_.open->memory_bytes(shape()).value_or(0);
  if (pooled()) {
    samples_.warm_queries = queries_.warm_count();
    fill_pool();
  } else {
    cores_ = tier_.open->make_cores(shape());
    dataset::GroundTruth results;
    // The counts are to be of a cache that is full, like the cache in the passes.
    if (point_.cache_bytes > 0) search::run_batch(cores_, queries_.rows, parameters_, results);
  }
  count();
}

/// Searches every query once and notes recall and counts.
void TierCell::count() {
  dataset::GroundTruth results;
  const search::CoreStatistics before = statistics();
  const auto device = tier_.open->device();
  const transport::DeviceUse use = device != nullptr ? device->use() : transport::DeviceUse{};
  search::BatchParameters parameters = parameters_;
  parameters.count_lines = true;
  search::BatchOutcome outcome = search::run_batch(cores_, queries_.rows, parameters, results);
  const search::CoreStatistics after = statistics();
  const VectorView& rows = queries_.rows;
  if (outcome.latency_us.size() < rows.count) return;  // interrupted
  const bool exact =
      search::has_exact_distances(tier_.open->manifest(), tier_.open->index(), *point_.disk.rerank);
  samples_.recall = queries_.recall(results, exact);
  samples_.totals = outcome.totals;
  samples_.queries = rows.count;
  samples_.core_dram_bytes = after.dram_bytes;
  samples_.io_reads = pooled() ? outcome.totals.reads : after.device_reads - before.device_reads;
  samples_.io_bytes = pooled() ? outcome.totals.bytes : after.device_bytes - before.device_bytes;
  bound_by_memory();
  const double occupied = device != nullptr ? device->seconds_since(use) : 0;
  if (occupied > 0) samples_.device_bound_qps = static_cast<double>(rows.count) / occupied;
  if (pooled()) samples_.add_pass(std::move(outcome));
}

/// Bounds the rate by the lines that this machine's memory has to bring, if no cache does. The
/// visited set is small and stays in a cache; records come from here when the tier loads them.
void TierCell::bound_by_memory() {
  const search::LineCounts& lines = samples_.totals.lines;
  const std::uint64_t local =
      lines.codes + lines.offsets + (tier_.spec->traits().loads ? lines.records : 0);
  if (local == 0 || samples_.queries == 0) return;
  samples_.line_ns = context_.line_time.ns(point_.threads);
  if (samples_.line_ns == 0) return;
  samples_.line_ns_source = context_.line_time.source();
  const double query_ns =
      static_cast<double>(local) / static_cast<double>(samples_.queries) * samples_.line_ns;
  samples_.memory_bound_qps = 1e9 * point_.threads / query_ns;
}

/// Makes cores with an empty pool, which queries that are not measured fill.
void TierCell::fill_pool() {
  cores_.clear();
  cores_ = tier_.open->make_cores(shape());
  queries_.warm(cores_, parameters_);
}

/// Returns sums over the cores.
search::CoreStatistics TierCell::statistics() const {
  search::CoreStatistics sum;
  for (const auto& core : cores_) {
    const search::CoreStatistics one = core->statistics();
    sum.dram_bytes += one.dram_bytes;
    sum.device_reads += one.device_reads;
    sum.device_bytes += one.device_bytes;
  }
  return sum;
}

void TierCell::measure_pass(std::uint32_t pass) {
  if (pooled() && pass == 0) return;  // the search of every query was the first pass
  search::BatchParameters parameters = parameters_;
  parameters.limit_ms = queries_.pass_ms;
  dataset::GroundTruth results;
  if (pooled()) {
    fill_pool();
  } else {
    parameters.repeats = std::numeric_limits<std::uint32_t>::max();
  }
  search::BatchOutcome outcome = search::run_batch(cores_, queries_.rows, parameters, results);
  parameters_.first += pooled() ? 0 : outcome.latency_us.size();
  samples_.add_pass(std::move(outcome));
}

const std::vector<double>* TierCell::bounding_rates() const {
  return tier_.is_dram() && !failed() ? &samples_.qps : nullptr;
}

void TierCell::bound_by(const std::vector<double>& rates) {
  samples_.compute_bound_qps = median(rates);
  for (std::size_t pass = 0; pass < rates.size(); ++pass) {
    samples_.compute_bound_shares.push_back(samples_.qps[pass] / rates[pass]);
  }
}

std::span<const Column> TierCell::columns() const {
  return rows_of(context_.manifest).columns();
}

std::vector<std::string> TierCell::table_cells() const {
  const KindRows& rows = rows_of(context_.manifest);
  std::vector<std::string> cells = rows.choice_cells(point_, tier_.name(), samples_);
  cells.push_back(point_.slots == 0 ? "auto" : fmt::to_string(point_.slots));
  cells.push_back(fmt::to_string(point_.threads));
  if (failed()) return cells;
  for (std::string& cell : samples_.cells()) cells.push_back(std::move(cell));
  rows.add_counts(samples_, cells);
  return cells;
}

void TierCell::add_facts(nlohmann::ordered_json& row) const {
  row["slots"] = point_.slots;
  row["index"] = context_.index;
  row["tier_model"] = tier_.model();
  if (!failed()) add_measured(context_, samples_, row);
}

}  // namespace farvec::measure
