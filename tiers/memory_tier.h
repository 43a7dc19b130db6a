// A MemoryTier reads records in memory that this process has mapped.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "tiers/tier.h"

namespace farvec::tiers {

class MemoryTier final : public Tier {
 public:
  /// load() calls `regions` once. The regions may be views of what the context's memory keeps.
  MemoryTier(std::function<RegionSetPointer()> regions, std::string description,
             const TierContext& context);

  std::string description() const override { return description_; }
  void load() const override;
  std::span<const std::byte> loads() const override {
    load();
    return regions_->front().bytes();
  }
  /// Completions give searches the address of the bytes; bare bytes are copied.
  std::unique_ptr<transport::Endpoint> make_endpoint() const override;
  std::optional<std::uint32_t> merge_gap_bytes() const override { return 0; }

 private:
  const std::function<RegionSetPointer()> make_regions_;
  mutable std::once_flag loaded_;
  mutable RegionSetPointer regions_;
  const std::string description_;
  const bool by_reference_;
};

}  // namespace farvec::tiers
