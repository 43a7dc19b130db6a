// A NodeTier reads records from memory nodes that are attached.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tiers/tier.h"

namespace farvec::tiers {

class NodeTier final : public Tier {
 public:
  /// The nodes must be ready, and attached by spec.read_path().
  NodeTier(std::shared_ptr<NodeSet> nodes, const TierSpec& spec)
      : nodes_(std::move(nodes)),
        regions_(nodes_->regions()),
        bytes_per_request_(spec.traits().bytes_per_request) {}

  std::string description() const override { return make_endpoint()->description(); }
  std::span<const std::byte> loads() const override {
    return regions_ == nullptr ? std::span<const std::byte>() : regions_->front().bytes();
  }
  std::unique_ptr<transport::Endpoint> make_endpoint() const override {
    return nodes_->make_endpoint();
  }
  std::optional<transport::RegionId> second_region() const override {
    if (!nodes_->manifest().second_copy) return std::nullopt;
    return layout::kSecondCopyRegion;
  }
  std::optional<std::uint32_t> merge_gap_bytes() const override {
    const auto& placement = nodes_->manifest().placement;
    if (!placement) return bytes_per_request_;
    const bool in_pieces = placement->regions[layout::kRecordsRegion].extents().size() > 1;
    return in_pieces ? std::nullopt : std::optional(bytes_per_request_);
  }
  bool alive() const override { return nodes_->alive(); }
  bool superseded() const override { return nodes_->superseded(); }
  std::vector<NodeSet::Member> memory_nodes() const override { return nodes_->members(); }

 private:
  const std::shared_ptr<NodeSet> nodes_;
  const RegionSetPointer regions_;  ///< null: records are read by requests
  const std::uint32_t bytes_per_request_;
};

}  // namespace farvec::tiers
