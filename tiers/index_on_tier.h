// An index of this machine on one tier: its cores, and how many searches they should have in
// flight.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "search/core/batch_search.h"
#include "search/core/search_shape.h"
#include "tiers/tier.h"

namespace farvec::tiers {

class IndexOnTier {
 public:
  static constexpr std::uint32_t kMostSlots = 64;
  /// Most searches for each number of slots that choose_slots() tries.
  static constexpr std::size_t kProbeQueries = 800;
  /// Most searches that choose_slots() does in all.
  static constexpr std::size_t kChoosingSearches = kProbeQueries * std::bit_width(kMostSlots);

  /// The context has an index and its directory. Throws Error when the tier cannot be opened.
  IndexOnTier(const TierSpec& spec, const TierContext& context);

  /// Cores whose threads may change. Each call has its own, with a pool of their own. Throws Error
  /// when a budget of memory is too small.
  std::vector<std::unique_ptr<search::SearchCore>> make_cores(
      const search::SearchShape& shape) const;
  /// What cores of the shape are made of, one after another: at most shape.cores. Throws as
  /// make_cores().
  std::unique_ptr<const CoreSet> prepare(const search::SearchShape& shape) const {
    return tier_->prepare(index_, shape);
  }
  /// What the searches of a shape keep in memory at most; none where only a disk has a budget.
  std::optional<std::size_t> memory_bytes(const search::SearchShape& shape) const;

  /// Searches that a core should have in flight when nobody says. Where it measures: the fewest, of
  /// powers of two, with nearly the best rate over some of the queries; no more than leave the pool
  /// its share of the budget. `all.slots` does not matter.
  std::uint32_t choose_slots(const search::SearchShape& all, VectorView queries,
                             const search::BatchParameters& parameters) const;
  /// Whether choose_slots() measures, for about three seconds.
  bool measures_slots() const { return manifest().is_slotted(); }

  /// What stands behind the tier's name, a modelled device with all its parameters.
  const std::string& model() const { return model_; }
  /// The modelled device itself; null: there is none.
  std::shared_ptr<transport::Device> device() const { return tier_->device(); }
  const layout::Manifest& manifest() const { return directory_.manifest(); }

 private:
  /// Queries per second, over some of them, on one core.
  double probe_rate(const search::SearchShape& shape, VectorView queries,
                    const search::BatchParameters& parameters) const;
  /// Most that leave enough of the budget to the pool.
  std::uint32_t affordable_slots(search::SearchShape shape) const;
  search::DiskMemory plan(const search::SearchShape& shape) const;

  const layout::IndexDirectory& directory_;
  const search::SearchIndex& index_;
  const std::unique_ptr<const Tier> tier_;
  const std::string model_;
};

}  // namespace farvec::tiers
