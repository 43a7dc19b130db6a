#include "collection/segment/segment_access.h"

#include <fmt/format.h>

#include "base/status_error.h"

namespace farvec::collection {
namespace {

/// Says whether the records of many segments can lie on a tier, each by itself.
bool takes_many(const tiers::TierSpec& tier, std::string_view text) {
  const bool names_one = text.find(':') != std::string_view::npos &&
                         !text.starts_with("emulated:") && !text.starts_with("numa:");
  return !tier.is_remote() && !names_one;
}

constexpr std::string_view kTiersOfMany = "dram, shm, numa:NODE, emulated:MODEL or ssd";

}  // namespace

SegmentAccess SegmentAccess::on(std::string_view tier) {
  SegmentAccess access;
  access.tier = tiers::parse_tier(tier);
  access.device = access.tier->make_device();
  return access;
}

SegmentAccess SegmentAccess::of_many(std::string_view tier) {
  SegmentAccess access;
  try {
    access = on(tier);
  } catch (const Error& error) {
    throw StatusError(StatusCode::invalid_argument, "{}", error.what());
  }
  if (takes_many(*access.tier, tier)) return access;
  throw StatusError(StatusCode::invalid_argument,
                    "tier {}: it holds one file, or is on another machine, and there are many "
                    "segments, which lie in {}",
                    tier, kTiersOfMany);
}

std::string modelled_device(const SegmentAccess& access) {
  if (access.device == nullptr) return {};
  return fmt::format("emulated({})", to_string(access.device->model()));
}

const char* usual_tier(const layout::CollectionOptions& options) {
  return options.in_pages() ? "ssd" : "dram";
}

void require_tier_of_pages(const SegmentAccess& access) {
  if (access.nodes != nullptr) {
    throw StatusError(StatusCode::invalid_argument,
                      "the segments are slotted pages, which memory nodes do not hold: leave their "
                      "nodes out, and search them on the tier ssd");
  }
  if (access.tier->traits().disk) return;
  throw StatusError(StatusCode::invalid_argument,
                    "tier {}: the segments are slotted pages, which are searched on ssd alone: use "
                    "--tier ssd",
                    access.tier->name());
}

void set_second_tier(SegmentAccess& access, std::string_view tier) {
  access.second_tier = tiers::parse_tier(tier);
  if (!takes_many(*access.second_tier, tier)) {
    throw StatusError(StatusCode::invalid_argument,
                      "second tier {}: the second copies of many segments lie in {}", tier,
                      kTiersOfMany);
  }
  access.second_device = access.second_tier->make_device();
}

}  // namespace farvec::collection
