#include "measure/sweep/sweep_cell.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.h"
#include "dataset/recall.h"
#include "measure/report/statistics.h"
#include "search/core/asked_search.h"
#include "search/core/queries.h"

namespace farvec::measure {
namespace {

/// Time limit of the run that says how fast the searches are.
constexpr double kProbeMs = 50;

}  // namespace

std::size_t SweepQueries::warm_count() const {
  std::size_t count = 0;
  for (const VectorView& view : warm_rows) count += view.count;
  return count;
}

SweepCell::SweepCell(const SweepPoint& point, SweepTier& tier, const SweepQueries& queries)
    : point_(point), tier_(tier), queries_(queries) {
  parameters_.stop = queries.interrupted;
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

bool SweepCell::pooled() const {
  return tier_.open != nullptr && tier_.open->manifest().is_slotted();
}

search::SearchShape SweepCell::shape() const {
  search::SearchShape shape{.cores = point_.threads,
                            .slots = point_.slots,
                            .cache_bytes = point_.cache_bytes / point_.threads,
                            .k = queries_.k,
                            .disk = point_.disk,
                            .merge_gap_bytes = queries_.merge_gap};
  search::set_largest(shape, point_.choice);
  return shape;
}

/// Makes the parameters of the searches. Throws Error when the combination cannot be searched.
void SweepCell::make_parameters() {
  parameters_.search = search::searchable(search::SearchParameters::make(
      queries_.k, point_.choice, search::limits_of(tier_.open->manifest())));
}

void SweepCell::choose_slots() {
  const VectorView probes = queries_.warm_rows.empty() ? queries_.rows : queries_.warm_rows.front();
  point_.slots = tier_.open->choose_slots(shape(), probes, parameters_);
}

/// Chooses the slots by measuring. First it lets memory_bytes() throw what is wrong with the
/// memory.
void SweepCell::measure_slots() {
  search::SearchShape least = shape();
  least.slots = 1;
  (void)tier_.open->memory_bytes(least);
  choose_slots();
}

double SweepCell::probe_seconds() {
  if (tier_.open == nullptr) return 0;
  make_parameters();
  search::SearchShape wanted = shape();
  if (wanted.slots == 0) wanted.slots = search::SearchShape{}.slots;
  const auto cores = tier_.open->make_cores(wanted);
  search::BatchParameters parameters = parameters_;
  parameters.limit_ms = kProbeMs;
  dataset::GroundTruth results;
  const search::BatchOutcome outcome = search::run_batch(cores, queries_.rows, parameters, results);
  const auto searches = std::max<double>(1, static_cast<double>(outcome.latency_us.size()));
  return outcome.seconds / searches;
}

double SweepCell::unbounded_searches(std::uint32_t passes) const {
  const auto rows = static_cast<double>(queries_.rows.count);
  const auto warm = static_cast<double>(queries_.warm_count());
  if (pooled()) return rows + passes * warm;
  return point_.cache_bytes > 0 ? 2 * rows : rows;
}

double SweepCell::choosing_searches() const {
  return point_.auto_slots ? tiers::IndexOnTier::kChoosingSearches : 0;
}

void SweepCell::prepare() {
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
void SweepCell::count() {
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
  const bool exact = search::has_exact_distances(tier_.open->manifest(), *point_.disk.rerank);
  samples_.recall = dataset::recall_at_k(
      {results.ids.data(), exact ? results.distances.data() : nullptr, rows.count, results.k},
      queries_.truth, queries_.k, queries_.range.begin);
  samples_.totals = outcome.totals;
  samples_.queries = rows.count;
  samples_.core_dram_bytes = after.dram_bytes;
  samples_.io_reads = pooled() ? outcome.totals.reads : after.device_reads - before.device_reads;
  samples_.io_bytes = pooled() ? outcome.totals.bytes : after.device_bytes - before.device_bytes;
  bound_by_memory();
  const double occupied = device != nullptr ? device->seconds_since(use) : 0;
  if (occupied > 0) samples_.device_bound_qps = static_cast<double>(rows.count) / occupied;
  if (pooled()) add_pass(std::move(outcome));
}

/// Bounds the rate by the lines that this machine's memory has to bring, if no cache does. The
/// visited set is small and stays in a cache; records come from here when the tier loads them.
void SweepCell::bound_by_memory() {
  const search::LineCounts& lines = samples_.totals.lines;
  const std::uint64_t local =
      lines.codes + lines.offsets + (tier_.spec->traits().loads ? lines.records : 0);
  if (local == 0 || samples_.queries == 0) return;
  samples_.line_ns = queries_.line_time->ns(point_.threads);
  if (samples_.line_ns == 0) return;
  samples_.line_ns_source = queries_.line_time->source();
  const double query_ns =
      static_cast<double>(local) / static_cast<double>(samples_.queries) * samples_.line_ns;
  samples_.memory_bound_qps = 1e9 * point_.threads / query_ns;
}

/// Makes cores with an empty pool, which queries that are not measured fill.
void SweepCell::fill_pool() {
  cores_.clear();
  cores_ = tier_.open->make_cores(shape());
  dataset::GroundTruth results;
  for (const VectorView& rows : queries_.warm_rows) {
    search::run_batch(cores_, rows, parameters_, results);
  }
}

/// Returns sums over the cores.
search::CoreStatistics SweepCell::statistics() const {
  search::CoreStatistics sum;
  for (const auto& core : cores_) {
    const search::CoreStatistics one = core->statistics();
    sum.dram_bytes += one.dram_bytes;
    sum.device_reads += one.device_reads;
    sum.device_bytes += one.device_bytes;
  }
  return sum;
}

void SweepCell::measure_pass(std::uint32_t pass) {
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
  add_pass(std::move(outcome));
}

void SweepCell::add_pass(search::BatchOutcome outcome) {
  if (outcome.latency_us.empty()) return;  // interrupted
  double total_us = 0;
  for (float us : outcome.latency_us) total_us += static_cast<double>(us);
  const auto searches = static_cast<double>(outcome.latency_us.size());
  samples_.qps.push_back(searches / outcome.seconds);
  samples_.processor_us.push_back(1e6 * outcome.processor_seconds / searches);
  samples_.mean_us.push_back(total_us / searches);
  samples_.p50_us.push_back(percentile(outcome.latency_us, 0.50));
  samples_.p99_us.push_back(percentile(outcome.latency_us, 0.99));
}

}  // namespace farvec::measure
