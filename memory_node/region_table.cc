#include "memory_node/region_table.h"

#include <spdlog/spdlog.h>

#include <chrono>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "layout/index/region_file.h"
#include "layout/index/second_copy.h"
#include "memory_node/random_id.h"

namespace farvec::memory_node {
namespace {

using Clock = std::chrono::steady_clock;

bool stopped(const LoadRequest& request) {
  return request.stop && request.stop();
}

layout::LoadOptions load_options(const LoadRequest& request) {
  layout::LoadOptions options;
  options.threads = request.threads;
  options.quiet = request.quiet;
  options.on_chunk = [&request](std::uint64_t bytes) {
    // relaxed, because it is only displayed
    if (request.loaded_bytes) request.loaded_bytes->fetch_add(bytes, std::memory_order_relaxed);
    if (stopped(request)) throw LoadStopped();
  };
  return options;
}

std::string name_of(const Region& region, std::uint32_t slot) {
  return slot == 0 ? region.kind : fmt::format("{}.{}", region.kind, slot + 1);
}

/// Persists the region, whose bytes are all there, and lets none be written any more.
void finish(const Region& region) {
  region.backing->persist();
  region.backing->seal();
  spdlog::info("region {} ({}): {} bytes in {}", region.id, region.kind, region.bytes,
               region.backing->description());
}

Region load_region(const layout::IndexDirectory& index, std::uint32_t id,
                   const LoadRequest& request) {
  Region region;
  region.id = id;
  region.kind = to_string(index.manifest().region(id).kind);
  region.bytes = index.manifest().node_bytes(request.node, id);
  if (stopped(request)) throw LoadStopped();
  region.backing = open_backing(request.backing, name_of(region, request.slot), region.bytes);
  index.load_share(id, request.node, region.backing->bytes(), load_options(request));
  finish(region);
  return region;
}

/// Loads the node's share of the second copy of the index's vectors.
Region load_second_copy(const layout::IndexDirectory& index, const LoadRequest& request) {
  const layout::Manifest& manifest = index.manifest();
  const layout::SecondCopyFile file(index.path(), manifest);
  Region region;
  region.id = layout::kSecondCopyRegion;
  region.kind = "second copy";
  region.bytes = manifest.node_bytes(request.node, region.id);
  if (stopped(request)) throw LoadStopped();
  region.backing = open_backing(request.backing, name_of(region, request.slot), region.bytes);
  if (manifest.placement) {
    file.load_share(manifest.placement->regions[region.id], request.node, region.backing->bytes(),
                    load_options(request));
  } else {
    file.load(region.backing->bytes(), load_options(request));
  }
  finish(region);
  return region;
}

void load_file(RegionTable& table, const OpenedFile& file, const LoadRequest& request) {
  const HeldFile& beside = file.said();
  Region region;
  region.id = static_cast<std::uint32_t>(table.regions.size());
  region.kind = to_string(beside.kind);
  region.bytes = beside.bytes;
  region.backing = open_backing(request.backing, name_of(region, request.slot), region.bytes);
  table.file_checksums[beside.kind] =
      file.read(region.backing->bytes(), load_options(request).on_chunk);
  finish(region);
  table.regions.push_back(std::move(region));
}

void load_beside(RegionTable& table, const LoadRequest& request) {
  for (const auto& file : request.beside) load_file(table, *file, request);
}

void require_memory_for(const layout::Manifest* index, const LoadRequest& request) {
  if (request.backing.kind == BackingKind::file) return;
  std::vector<std::uint64_t> regions;
  const std::uint32_t held = index == nullptr ? 0 : index->held_regions();
  for (std::uint32_t id = 0; id < held; ++id) {
    regions.push_back(index->node_bytes(request.node, id));
  }
  for (const auto& file : request.beside) regions.push_back(file->said().bytes);
  require_memory(std::accumulate(regions.begin(), regions.end(), std::uint64_t{0}),
                 available_bytes(request.memory(), request.backing.kind, regions));
}

void require_node(const layout::IndexDirectory& index, std::uint32_t node) {
  const std::uint32_t nodes = index.manifest().memory_nodes();
  if (node < nodes) return;
  if (nodes == 1) {
    throw Error(
        "--node {}: the index '{}' is not placed over several memory nodes; do that with "
        "'farvec place', or leave --node out",
        node, index.path().string());
  }
  throw Error("--node {}: the index '{}' is placed over {} memory nodes, 0 to {}", node,
              index.path().string(), nodes, nodes - 1);
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Makes a table of regions that are on a device.
std::shared_ptr<const RegionTable> stored_table(std::shared_ptr<const device::StoredIndex> stored,
                                                bool attached, Clock::time_point start) {
  auto table = std::make_shared<RegionTable>();
  for (std::uint32_t id = 0; id < layout::kRegionCount; ++id) {
    const layout::DeviceRegion& at = stored->entry().regions[id];
    Region region{id, std::string(to_string(at.kind)), at.extent.bytes, stored_backing(stored, id)};
    spdlog::info("region {} ({}): {} bytes in {}", id, region.kind, region.bytes,
                 region.backing->description());
    table->regions.push_back(std::move(region));
  }
  table->manifest_json = stored->manifest_json();
  table->node = stored->entry().node;
  table->generation = random_u64();
  table->stored = std::move(stored);
  table->attached = attached;
  table->load_seconds = seconds_since(start);
  return table;
}

void require_no_second_copy(const layout::Manifest& manifest, const std::string& index) {
  if (!manifest.second_copy) return;
  throw Error(
      "'{}' has a second copy of its vectors, for which a memory device has no place: serve it "
      "from its folder, with --backing dram, shm or file",
      index);
}

std::shared_ptr<const RegionTable> store_or_attach(const layout::IndexDirectory& index,
                                                   const LoadRequest& request,
                                                   Clock::time_point start) {
  require_no_second_copy(index.manifest(), index.path().string());
  if (auto stored = device::StoredIndex::find(request.device, index, request.node)) {
    return stored_table(std::move(stored), true, start);
  }
  return stored_table(
      device::store_index(request.device, index, request.node, "", load_options(request)), false,
      start);
}

}  // namespace

std::uint64_t RegionTable::total_bytes() const {
  std::uint64_t sum = 0;
  for (const Region& region : regions) sum += region.bytes;
  return sum;
}

std::uint64_t bytes_to_load(const layout::Manifest& manifest, std::uint32_t node) {
  std::uint64_t sum = 0;
  for (const layout::RegionEntry& entry : manifest.regions) sum += entry.payload_bytes;
  if (manifest.second_copy) sum += manifest.node_bytes(node, layout::kSecondCopyRegion);
  return sum;
}

std::shared_ptr<const RegionTable> load_index(const layout::IndexDirectory& index,
                                              const LoadRequest& request) {
  const auto start = Clock::now();
  require_node(index, request.node);
  if (request.device != nullptr) return store_or_attach(index, request, start);
  require_memory_for(&index.manifest(), request);
  auto table = std::make_shared<RegionTable>();
  for (std::uint32_t id = 0; id < layout::kRegionCount; ++id) {
    table->regions.push_back(load_region(index, id, request));
  }
  if (index.manifest().second_copy) table->regions.push_back(load_second_copy(index, request));
  load_beside(*table, request);
  table->manifest_json = layout::manifest_to_json(index.manifest());
  table->node = request.node;
  table->generation = random_u64();
  table->load_seconds = seconds_since(start);
  return table;
}

std::shared_ptr<const RegionTable> load_file_alone(const LoadRequest& request) {
  const auto start = Clock::now();
  require_memory_for(nullptr, request);
  auto table = std::make_shared<RegionTable>();
  load_beside(*table, request);
  table->generation = random_u64();
  table->load_seconds = seconds_since(start);
  return table;
}

std::shared_ptr<const RegionTable> attach_newest(const LoadRequest& request) {
  const auto start = Clock::now();
  auto stored = device::StoredIndex::find(request.device, request.node);
  if (stored == nullptr) {
    throw Error(
        "{} holds no index of node {}: name one with --index, or put one there with "
        "'farvec devices load'",
        request.device->memory().path(), request.node);
  }
  require_no_second_copy(stored->manifest(), stored->entry().name);
  return stored_table(std::move(stored), true, start);
}

}  // namespace farvec::memory_node
