#include "collection/segment/segment_access.h"

#include "base/status_error.h"

namespace farvec::collection {

SegmentAccess SegmentAccess::on(std::string_view tier) {
  SegmentAccess access;
  access.tier = tiers::parse_tier(tier);
  access.device = access.tier->make_device();
  return access;
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
  const bool named = tier.find(':') != std::string_view::npos && !tier.starts_with("emulated:") &&
                     !tier.starts_with("numa:");
  if (access.second_tier->is_remote() || named) {
    throw StatusError(StatusCode::invalid_argument,
                      "second tier {}: the second copies of many segments lie in dram, shm, "
                      "numa:NODE, emulated:MODEL or ssd",
                      tier);
  }
  access.second_device = access.second_tier->make_device();
}

}  // namespace farvec::collection
