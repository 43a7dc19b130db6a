#include "tiers/index_on_tier.h"

#include <algorithm>
#include <utility>

namespace farvec::tiers {
namespace {

/// A share of the best rate. The fewest slots that reach it are enough, because the last tenth of
/// the rate doubles every search's latency.
constexpr double kEnough = 0.9;
/// The part of a memory budget that the pool gets is at least this many times what the searches
/// themselves take.
constexpr std::size_t kPoolShare = 3;

}  // namespace

IndexOnTier::IndexOnTier(const TierSpec& spec, const TierContext& context)
    : directory_(*context.memory->directory()),
      index_(*context.index),
      tier_(Tier::open(spec, context)),
      model_(tier_->description()) {}

search::DiskMemory IndexOnTier::plan(const search::SearchShape& shape) const {
  return *tier_->plan(index_, shape);
}

std::optional<std::size_t> IndexOnTier::memory_bytes(const search::SearchShape& shape) const {
  const auto plan = tier_->plan(index_, shape);
  return plan ? std::optional(plan->total()) : std::nullopt;
}

std::uint32_t IndexOnTier::affordable_slots(search::SearchShape shape) const {
  const auto budget = std::exchange(shape.disk.memory_budget, std::nullopt);
  for (shape.slots = kMostSlots; budget && shape.slots > 1; shape.slots /= 2) {
    const search::DiskMemory needed = plan(shape);
    const std::size_t fixed = needed.total() - needed.caches;
    if (fixed + kPoolShare * (needed.buffers + needed.searches) <= *budget) break;
  }
  return shape.slots;
}

double IndexOnTier::probe_rate(const search::SearchShape& shape, VectorView queries,
                               const search::BatchParameters& parameters) const {
  const std::size_t rows = queries.count;
  // The first half of the queries fills the pool. The second half, which is measured, finds in it
  // what other queries have left there.
  queries.count = (std::min(rows, kProbeQueries) + 1) / 2;
  const auto cores = make_cores(shape);
  dataset::GroundTruth results;
  search::run_batch(cores, queries, parameters, results);
  if (2 * queries.count <= rows) queries.data = queries.row(queries.count);
  const search::BatchOutcome outcome = search::run_batch(cores, queries, parameters, results);
  return static_cast<double>(queries.count) / outcome.seconds;
}

std::uint32_t IndexOnTier::choose_slots(const search::SearchShape& all, VectorView queries,
                                        const search::BatchParameters& parameters) const {
  constexpr std::uint32_t kMemorySlots = 16;
  if (!measures_slots()) return kMemorySlots;
  search::SearchShape shape = all;
  shape.cores = 1;
  std::vector<std::pair<std::uint32_t, double>> rates;
  double best = 0;
  const std::uint32_t most = affordable_slots(all);
  for (shape.slots = 1; shape.slots <= most; shape.slots *= 2) {
    rates.emplace_back(shape.slots, probe_rate(shape, queries, parameters));
    best = std::max(best, rates.back().second);
  }
  return std::find_if(rates.begin(), rates.end(),
                      [&](const auto& rate) { return rate.second >= kEnough * best; })
      ->first;
}

std::vector<std::unique_ptr<search::SearchCore>> IndexOnTier::make_cores(
    const search::SearchShape& shape) const {
  const auto set = prepare(shape);
  std::vector<std::unique_ptr<search::SearchCore>> cores;
  for (std::uint32_t c = 0; c < shape.cores; ++c) cores.push_back(set->make_core());
  return cores;
}

}  // namespace farvec::tiers
