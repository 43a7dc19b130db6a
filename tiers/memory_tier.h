// Records in memory that this process has mapped.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "tiers/tier.h"

namespace farvec::tiers {

class MemoryTier final : public Tier {
 public:
  /// The regions may be views of what the context's memory keeps.
  MemoryTier(RegionSetPointer regions, std::string description, const TierContext& context);

  std::string description() const override { return description_; }
  std::span<const std::byte> loads() const override { return regions_->front().bytes(); }
  /// Searches are told where the bytes lie; bare bytes are copied.
  std::unique_ptr<transport::Endpoint> make_endpoint() const override;
  std::optional<std::uint32_t> merge_gap_bytes() const override { return 0; }

 private:
  const RegionSetPointer regions_;
  const std::string description_;
  const bool by_reference_;
};

}  // namespace farvec::tiers
