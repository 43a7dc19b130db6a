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

}  // namespace farvec::collection
