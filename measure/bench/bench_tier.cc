#include "measure/bench/bench_tier.h"

#include <utility>

namespace farvec::measure {

void BenchMemory::load(std::span<std::byte> memory) const {
  for (std::size_t i = 0; i + sizeof(i) <= memory.size(); i += sizeof(i)) {
    store_unaligned(memory.data() + i, i);
  }
}

tiers::RegionSetPointer BenchMemory::map(const std::string& path) const {
  return tiers::region_set(transport::MappedRegion::map_file(path));
}

BenchTier::BenchTier(tiers::TierSpecPointer spec, const tiers::TierContext& context)
    : spec_(std::move(spec)),
      tuning_(context.remote.tuning),
      tier_(tiers::Tier::open(*spec_, context)),
      probe_(tier_->make_endpoint()) {}

void BenchTier::open_lanes(std::uint32_t count, std::size_t destination_bytes) {
  while (lanes_.size() < count) {
    BenchLane lane{HugeBuffer(destination_bytes), tier_->make_endpoint()};
    lane.endpoint->register_memory(lane.destinations.span());
    lanes_.push_back(std::move(lane));
  }
}

transport::IdleReaders BenchTier::idle_but(std::uint32_t reading) const {
  return {tier_->device(), static_cast<std::uint32_t>(lanes_.size()) + 1 - reading};
}

double BenchTier::device_bound_per_s(const BenchPoint& point) const {
  const auto device = tier_->device();
  if (device == nullptr) return 0;
  const transport::DeviceModel part = device->model().part_of(point.threads);
  const double small = point.mix;
  const double large = 1 - point.mix;
  const double short_reads =
      small + (point.payload_bytes <= transport::kMostShortBytes ? large : 0);
  const double long_reads = point.payload_bytes >= transport::kLeastLongBytes ? large : 0;
  return 1e9 / (small * part.occupied_ns(transport::kSmallReadBytes) +
                large * part.occupied_ns(point.payload_bytes) +
                part.interruptions_ns(short_reads, long_reads));
}

}  // namespace farvec::measure
