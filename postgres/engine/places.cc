#include "postgres/engine/places.h"

#include "base/status_error.h"
#include "base/types.h"
#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

namespace farvec::postgres {
namespace {

static_assert(layout::kMostTierWord + 1 == ASK_TIER_BYTES);

using layout::LayoutKind;

constexpr const char* kUsualTier = "dram";
constexpr const char* kDiskTier = "ssd";
/// The pool that indexes share has this share of the engine's memory.
constexpr std::uint64_t kPoolShare = 10;
/// Records that a search reads at once where a read is waited for, and where it is a load.
constexpr std::uint32_t kWidthOfReads = 4;
constexpr std::uint32_t kWidthOfLoads = 1;
/// Rows that are merged take this share of the engine's memory, as those of a build do.
constexpr std::uint64_t kMergeShare = 3;

constexpr std::pair<AskLayout, LayoutKind> kLayouts[] = {{kAskUsualLayout, LayoutKind::csr},
                                                         {kAskCsr, LayoutKind::csr},
                                                         {kAskPacked, LayoutKind::packed},
                                                         {kAskInline, LayoutKind::inlined},
                                                         {kAskSlotted, LayoutKind::slotted}};

}  // namespace

layout::IndexPlace place_of(const AskOpen& asked) {
  const std::size_t bytes = strnlen(asked.tier, ASK_TIER_BYTES);
  if (bytes == ASK_TIER_BYTES) {
    throw StatusError(StatusCode::invalid_argument, "the word of a tier has no end");
  }
  return {bytes == 0 ? kUsualTier : std::string(asked.tier, bytes), asked.pool_bytes};
}

layout::LayoutKind layout_of(const AskOpen& asked) {
  for (const auto& [number, layout] : kLayouts) {
    if (asked.layout == number) return layout;
  }
  throw StatusError(StatusCode::invalid_argument, "{} is the number of no layout", asked.layout);
}

AskLayout asked_layout(LayoutKind layout) {
  for (const auto& [number, kind] : kLayouts) {
    if (kind == layout && number != kAskUsualLayout) return number;
  }
  return kAskUsualLayout;
}

Places::Places(collection::CollectionAccess access, std::uint64_t memory)
    : common_(std::move(access)),
      memory_(memory),
      shared_pool_(search::pools_of_records(memory / kPoolShare)) {}

/// Indexes on one modelled tier share its device, as they would share a real one.
collection::SegmentAccess Places::segments_on(const std::string& tier) {
  collection::SegmentAccess access = collection::SegmentAccess::of_many(tier);
  access.shape = common_.segments.shape;
  access.threads = common_.segments.threads;
  access.shape.width = access.tier->traits().loads ? kWidthOfLoads : kWidthOfReads;
  if (access.device == nullptr) return access;
  const std::lock_guard lock(mutex_);
  std::erase_if(devices_, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<transport::Device>& known = devices_[tier];
  if (std::shared_ptr<transport::Device> device = known.lock(); device != nullptr) {
    access.device = std::move(device);
  }
  known = access.device;
  return access;
}

void Places::check(const layout::IndexPlace& place, LayoutKind layout) {
  const bool on_disk = is_on_disk(place);
  if (layout == LayoutKind::slotted && !on_disk) {
    throw StatusError(StatusCode::invalid_argument,
                      "layout slotted is for tier ssd, and not for tier {}", place.tier);
  }
  if (place.pool_bytes != 0 && layout != LayoutKind::slotted) {
    throw StatusError(StatusCode::invalid_argument,
                      "a pool is for layout slotted, and not for layout {}", to_string(layout));
  }
}

bool Places::is_on_disk(const layout::IndexPlace& place) {
  return segments_on(place.tier).tier->traits().disk;
}

collection::CollectionAccess Places::access(const layout::IndexPlace& place,
                                            const layout::CollectionManifest& shape) {
  collection::CollectionAccess access = common_;
  access.segments = segments_on(place.tier);
  if (shape.options.in_pages()) {
    if (!access.segments.tier->traits().disk) access.segments = segments_on(kDiskTier);
    access.segments.shape.pools = shared_pool_;
    if (place.pool_bytes != 0) {
      access.segments.shape.pools = search::pools_of_records(place.pool_bytes);
    }
  }
  if (access.segments.tier->traits().disk) {
    const std::size_t row_bytes = packed_bytes(shape.stored_type, shape.dimension);
    access.most_merged_rows = std::max<std::uint64_t>(memory_ / kMergeShare / row_bytes, 1);
  }
  return access;
}

}  // namespace farvec::postgres
