// Tries a small index in slotted pages, searched under a budget of memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>

#include "measure/advise/small_index.h"
#include "measure/advise/trial.h"
#include "ssd_baseline/slotted/search/slotted_store.h"

namespace farvec::measure {

/// Says what searches of the whole index have in memory, and what that comes to on a small one.
struct PoolShare {
  std::size_t whole_bytes = 0;               ///< bytes that the whole index's searches take
  double pool_bytes = 0;                     ///< the pool's part of whole_bytes
  std::optional<std::size_t> sample_budget;  ///< none: not even one record fits the whole's pool
};

/// Scales a budget down to the small index. `sample` is what searches of the small index take when
/// all records fit; `index_bytes` is the size of all of its regions; the whole index has `growth`
/// times the rows, and `percent` of its bytes are the budget. Codes, map, entries and pool grow
/// with the rows, buffers and searches do not. The small index's pool gets the same share of its
/// records.
PoolShare share_pool(const slotted::MemoryPlan& sample, std::uint64_t index_bytes, double growth,
                     double percent);

/// Tries an index in slotted pages: the first half of the queries fills the pool, and the second
/// half is counted and timed. Repeated queries would find everything in memory.
class SlottedTrial final : public Trial {
 public:
  SlottedTrial(const std::filesystem::path& directory, double memory_percent,
               const VectorView& queries, const TrialOptions& options);

  TrialResult count(const dataset::GroundTruth& truth) override;
  void time(TrialResult& result) override;
  /// Returns 0: the budget includes all that searches take.
  std::size_t search_bytes(std::uint32_t, std::uint32_t, std::uint32_t) const override { return 0; }

 private:
  /// Returns the most searches in flight that leave the pool of the whole index what it needs.
  std::uint32_t affordable_slots();
  slotted::SlottedSearchOptions search_options(std::uint32_t list) const;
  PoolShare share(std::uint32_t list) const;
  std::uint32_t longest_list() const;
  search::BatchOutcome search(std::uint32_t list, dataset::GroundTruth& results) const;
  void time(std::uint32_t list, Timed& timed) const;

  const TrialOptions options_;
  const double memory_percent_;
  const OpenPages pages_;
  std::uint32_t slots_ = 0;
  VectorView warm_;
  VectorView counted_;
};

}  // namespace farvec::measure
