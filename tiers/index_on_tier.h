// An IndexOnTier is an index of this machine on one tier: it makes its cores, and chooses how many
// searches they should have in flight.
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

  /// Makes cores that may be moved between threads. The cores of one call share a pool of their
  /// own. Throws Error when a budget of memory is too small.
  std::vector<std::unique_ptr<search::SearchCore>> make_cores(
      const search::SearchShape& shape) const;
  /// Returns what makes cores of the shape, one after another: at most shape.cores. Throws what
  /// make_cores() throws.
  std::unique_ptr<const CoreSet> prepare(const search::SearchShape& shape) const {
    return tier_->prepare(index_, shape);
  }
  /// Returns what the searches of a shape keep in memory at most; none where only a disk has a
  /// budget.
  std::optional<std::size_t> memory_bytes(const search::SearchShape& shape) const;

  /// Returns how many searches a core should have in flight when the user does not say. Where it
  /// measures, that is the smallest power of two with nearly the best rate over some of the
  /// queries, and no more than leave the pool its share of the budget. `all.slots` is not read.
  std::uint32_t choose_slots(const search::SearchShape& all, VectorView queries,
                             const search::BatchParameters& parameters) const;
  /// Says whether choose_slots() measures, for about three seconds.
  bool measures_slots() const { return manifest().is_slotted(); }

  /// The device behind the tier's name; a modelled one with all its parameters.
  const std::string& model() const { return model_; }
  /// The modelled device itself; null: there is none.
  std::shared_ptr<transport::Device> device() const { return tier_->device(); }
  const layout::Manifest& manifest() const { return directory_.manifest(); }
  const search::SearchIndex& index() const { return index_; }
  /// The device behind the second copy of the vectors; empty where the index has none.
  std::string second_model() const { return tier_->second_description(); }

 private:
  /// Returns queries per second, over some of them, on one core.
  double probe_rate(const search::SearchShape& shape, VectorView queries,
                    const search::BatchParameters& parameters) const;
  /// Returns the most slots that leave enough of the budget to the pool.
  std::uint32_t affordable_slots(search::SearchShape shape) const;
  search::DiskMemory plan(const search::SearchShape& shape) const;

  const layout::IndexDirectory& directory_;
  const search::SearchIndex& index_;
  const std::unique_ptr<const Tier> tier_;
  const std::string model_;
};

}  // namespace farvec::tiers
