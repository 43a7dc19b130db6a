#include "cli/bench/bench_tier.h"

#include <utility>

#include "base/error.h"
#include "transport/emulated/emulated_endpoint.h"

namespace farvec::cli {
namespace {

using transport::TierKind;

/// Every page has to be there: reads of pages that were never written all hit the one zero page.
void fill(std::span<std::byte> memory) {
  for (std::size_t i = 0; i + sizeof(i) <= memory.size(); i += sizeof(i)) {
    store_unaligned(memory.data() + i, i);
  }
}

}  // namespace

std::shared_ptr<const transport::RegionSet> BenchMemory::dram() {
  if (dram_) return dram_;
  buffer_ = HugeBuffer(bytes_);
  fill(buffer_.span());
  dram_ = region_set(transport::MappedRegion::borrow(buffer_.span()));
  return dram_;
}

std::shared_ptr<const transport::RegionSet> BenchMemory::shared() {
  if (!shared_) shared_ = make_shared_memory(bytes_, fill);
  return shared_;
}

BenchTier::BenchTier(BenchTierOptions options, BenchMemory& memory) : options_(std::move(options)) {
  const transport::TierSpec& spec = options_.spec;
  switch (spec.kind) {
    case TierKind::dram:
      mapped_ = memory.dram();
      model_ = "this process's DRAM";
      break;
    case TierKind::shm:
      mapped_ = memory.shared();
      model_ = "shared memory (memfd), read-only mapping";
      break;
    case TierKind::file:
    case TierKind::devdax:
      mapped_ = region_set(transport::MappedRegion::map_file(spec.path));
      model_ = "mapped " + spec.path;
      break;
    case TierKind::emulated:
      mapped_ = memory.dram();
      device_ = std::make_shared<transport::Device>(spec.model);
      break;
    case TierKind::ssd:
      throw Error("--tier ssd has no transport to measure: see `farvec bench disk`");
    case TierKind::verbs:
    case TierKind::fabric: {
      const auto nodes = node_set_options(spec, options_.access);
      if (nodes.addresses.size() > 1) throw Error("a bench reads one memory node: name one");
      tiers::AttachOptions attach = nodes.attach;
      attach.memory_node = nodes.addresses.front();
      attach.tuning = options_.tuning;
      attachment_ = tiers::Attachment::attach(attach);
      break;
    }
  }
  probe_ = make_endpoint();
}

std::unique_ptr<transport::Endpoint> BenchTier::make_endpoint() const {
  if (attachment_) return attachment_->make_endpoint();
  auto endpoint = std::make_unique<transport::MappedEndpoint>(
      mapped_, transport::MappedOptions{.name = model_});
  if (!device_) return endpoint;
  return std::make_unique<transport::EmulatedEndpoint>(std::move(endpoint), device_);
}

void BenchTier::open_lanes(std::uint32_t count, std::size_t destination_bytes) {
  while (lanes_.size() < count) {
    BenchLane lane{HugeBuffer(destination_bytes), make_endpoint()};
    lane.endpoint->register_memory(lane.destinations.span());
    lanes_.push_back(std::move(lane));
  }
}

}  // namespace farvec::cli
