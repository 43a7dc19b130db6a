#include "memory_node/region_table.h"

#include <spdlog/spdlog.h>

#include <chrono>

#include "memory_node/backing/memory_info.h"
#include "memory_node/random_id.h"

namespace farvec::memory_node {
namespace {

bool stopped(const LoadRequest& request) {
  // relaxed: only the flag itself matters.
  return request.stop != nullptr && request.stop->load(std::memory_order_relaxed);
}

layout::LoadOptions load_options(const LoadRequest& request) {
  layout::LoadOptions options;
  options.threads = request.threads;
  options.quiet = request.quiet;
  options.on_chunk = [&request](std::uint64_t bytes) {
    // relaxed: a display.
    if (request.loaded_bytes) request.loaded_bytes->fetch_add(bytes, std::memory_order_relaxed);
    if (stopped(request)) throw LoadStopped();
  };
  return options;
}

Region load_region(const layout::IndexDirectory& index, std::uint32_t id,
                   const LoadRequest& request) {
  const layout::RegionEntry& entry = index.manifest().region(id);
  Region region;
  region.id = id;
  region.kind = to_string(entry.kind);
  region.bytes = entry.file_bytes();
  if (stopped(request)) throw LoadStopped();
  region.backing = open_backing(request.backing, region.kind, region.bytes);
  index.load_region(id, region.backing->bytes(), load_options(request));
  region.backing->persist();
  region.backing->seal();
  spdlog::info("region {} ({}): {} bytes in {}", id, region.kind, region.bytes,
               region.backing->description());
  return region;
}

void require_memory_for(const layout::Manifest& manifest, BackingKind kind) {
  if (kind == BackingKind::file) return;
  std::vector<std::uint64_t> regions;
  for (std::uint32_t id = 0; id < layout::kRegionCount; ++id) {
    regions.push_back(manifest.region(id).file_bytes());
  }
  require_memory(index_bytes(manifest), available_bytes(memory_info(), kind, regions));
}

}  // namespace

std::uint64_t RegionTable::total_bytes() const {
  std::uint64_t sum = 0;
  for (const Region& region : regions) sum += region.bytes;
  return sum;
}

std::uint64_t index_bytes(const layout::Manifest& manifest) {
  std::uint64_t sum = 0;
  for (const layout::RegionEntry& entry : manifest.regions) sum += entry.file_bytes();
  return sum;
}

std::shared_ptr<const RegionTable> load_index(const layout::IndexDirectory& index,
                                              const LoadRequest& request) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  require_memory_for(index.manifest(), request.backing.kind);
  auto table = std::make_shared<RegionTable>();
  for (std::uint32_t id = 0; id < layout::kRegionCount; ++id) {
    table->regions.push_back(load_region(index, id, request));
  }
  table->manifest_json = layout::manifest_to_json(index.manifest());
  table->generation = random_u64();
  table->load_seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return table;
}

}  // namespace farvec::memory_node
