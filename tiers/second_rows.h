// SecondRows are the second copy of an index's vectors on the tier from which searches read it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "search/core/search_shape.h"
#include "search/index/second_copy.h"
#include "search/refine/refined_part.h"
#include "tiers/record_memory.h"
#include "tiers/tier.h"

namespace farvec::tiers {

/// SecondMemory has the file of a second copy in each kind of memory.
class SecondMemory final : public RecordMemory {
 public:
  /// The copy must outlive it.
  explicit SecondMemory(const search::SecondCopy& second, unsigned threads)
      : second_(second), threads_(threads) {}

  /// `path` is a copy of the file.
  RegionSetPointer map(const std::string& path) const override;
  /// Throws Error: devices hold no second copies.
  RegionSetPointer map_stored(const std::string& path) const override;

 private:
  std::uint64_t bytes() const override { return second_.geometry().file_bytes(); }
  void load(std::span<std::byte> memory) const override {
    second_.file().load(memory, {.threads = threads_, .quiet = true});
  }

  const search::SecondCopy& second_;
  const unsigned threads_;
};

class SecondRows {
 public:
  /// Opens a tier for the second copy. The index has one, and must outlive it. Throws Error where
  /// the tier cannot bring it.
  SecondRows(const TierSpec& spec, const search::SearchIndex& index, const TierContext& context);
  /// The tier of the records has the second copy too, in its second_region(). Both must outlive it.
  SecondRows(const Tier& records, const search::SearchIndex& index);

  /// Makes cores that rank again what others find. Both must outlive them.
  std::unique_ptr<const CoreSet> refined(std::unique_ptr<const CoreSet> inner,
                                         const search::SearchShape& shape) const;
  /// Returns an upper bound of what these cores keep in memory for it, without the device's own
  /// memory; with all rows where these lie in DRAM of this process.
  std::size_t memory_bytes(const search::SearchShape& shape) const;
  const Tier& tier() const { return tier_; }

 private:
  search::RefineOptions options(const search::SearchShape& shape) const;

  const search::SearchIndex& index_;
  std::optional<SecondMemory> memory_;     ///< none where the tier is that of the records
  const bool in_own_memory_;               ///< every row is checked as it is loaded
  const bool in_dram_;                     ///< all rows lie in that of this process
  const std::unique_ptr<const Tier> own_;  ///< null where the tier is that of the records
  const Tier& tier_;
};

}  // namespace farvec::tiers
