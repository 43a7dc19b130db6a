#include "layout/index/placement_json.h"

#include <limits>

#include "base/error.h"

namespace farvec::layout {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::uint64_t kMostOffset = std::uint64_t{1} << 57;

Json extent_to_json(const PlacedExtent& extent) {
  Json copies = Json::array();
  for (std::uint32_t c = 0; c < extent.copy_count; ++c) {
    copies.push_back({{"node", extent.copies[c].node}, {"offset", extent.copies[c].offset}});
  }
  return {{"begin", extent.begin}, {"copies", std::move(copies)}};
}

PlacedExtent read_extent(const JsonFields& fields, std::uint32_t nodes) {
  PlacedExtent extent;
  extent.begin = fields.integer("begin", 0, kMostOffset);
  const nlohmann::json& copies = fields.array("copies");
  if (copies.empty() || copies.size() > PlacedExtent::kMaxCopies) {
    fields.fail("copies", fmt::format("has {} entries, not 1 to {}", copies.size(),
                                      PlacedExtent::kMaxCopies));
  }
  for (std::size_t c = 0; c < copies.size(); ++c) {
    const JsonFields copy = fields.element("copies", c);
    extent.copies[c] = {static_cast<std::uint32_t>(copy.integer("node", 0, nodes - 1)),
                        copy.integer("offset", 0, kMostOffset)};
  }
  extent.copy_count = static_cast<std::uint32_t>(copies.size());
  return extent;
}

}  // namespace

Json placement_to_json(const Placement& placement) {
  Json regions = Json::array();
  for (const RegionPlacement& region : placement.regions) {
    Json extents = Json::array();
    for (const PlacedExtent& extent : region.extents()) extents.push_back(extent_to_json(extent));
    regions.push_back({{"extents", std::move(extents)}});
  }
  return {{"nodes", placement.nodes},
          {"replicas", placement.replicas},
          {"regions", std::move(regions)}};
}

Placement placement_from_json(const JsonFields& fields,
                              std::span<const std::uint64_t> region_bytes) {
  Placement placement;
  placement.nodes =
      static_cast<std::uint32_t>(fields.integer("nodes", 2, std::uint64_t{Placement::kMaxNodes}));
  placement.replicas = static_cast<std::uint32_t>(
      fields.integer("replicas", 1, std::uint64_t{PlacedExtent::kMaxCopies}));
  if (fields.array("regions").size() != region_bytes.size()) {
    fields.fail("regions", fmt::format("does not have {} entries", region_bytes.size()));
  }
  for (std::size_t r = 0; r < region_bytes.size(); ++r) {
    const JsonFields region = fields.element("regions", r);
    std::vector<PlacedExtent> extents;
    for (std::size_t e = 0; e < region.array("extents").size(); ++e) {
      extents.push_back(read_extent(region.element("extents", e), placement.nodes));
    }
    placement.regions.emplace_back(std::move(extents), region_bytes[r], placement.nodes,
                                   region.path());
  }
  return placement;
}

}  // namespace farvec::layout
