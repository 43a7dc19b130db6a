#include "device/stored_index.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/error.h"
#include "base/parallel.h"
#include "layout/collection/index_attributes.h"

namespace farvec::device {
namespace {

using layout::DeviceExtent;
using layout::DeviceIndex;
using layout::kDeviceChunkBytes;
using layout::kRegionCount;

/// A run of one region that one checksum covers.
struct StoredChunk {
  std::uint32_t region;
  DeviceExtent extent;
};

std::vector<StoredChunk> chunks_of(std::span<const layout::DeviceRegion> regions) {
  std::vector<StoredChunk> chunks;
  for (const layout::DeviceRegion& region : regions) {
    for (std::uint64_t at = 0; at < region.extent.bytes; at += kDeviceChunkBytes) {
      chunks.push_back(
          {region.region,
           {region.extent.offset + at, std::min(kDeviceChunkBytes, region.extent.bytes - at)}});
    }
  }
  return chunks;
}

/// Calls body(number, chunk) for every chunk, on several threads.
template <typename Body>
void for_each_stored_chunk(std::span<const layout::DeviceRegion> regions, unsigned threads,
                           const Body& body) {
  const std::vector<StoredChunk> chunks = chunks_of(regions);
  parallel_for(chunks.size(), 1, resolve_threads(threads),
               [&](std::size_t first, std::size_t last, unsigned) {
                 for (std::size_t i = first; i < last; ++i) body(i, chunks[i]);
               });
}

/// The slots that `node` serves, newest first.
std::vector<std::uint32_t> slots_of(const layout::DeviceDirectory& directory, std::uint32_t node) {
  std::vector<std::uint32_t> slots;
  for (std::uint32_t slot = 0; slot < layout::kDeviceSlots; ++slot) {
    const auto& index = directory.slots[slot];
    if (index && index->node == node) slots.push_back(slot);
  }
  std::sort(slots.begin(), slots.end(), [&directory](std::uint32_t a, std::uint32_t b) {
    return directory.slots[a]->sequence > directory.slots[b]->sequence;
  });
  return slots;
}

layout::DeviceDescription description_of(const DeviceStore& store, const DeviceIndex& entry) {
  return layout::decode_device_description(store.bytes(entry.description), entry,
                                           store.memory().path());
}

/// Empty when the description is damaged.
std::optional<layout::DeviceDescription> whole_description(const DeviceStore& store,
                                                           const DeviceIndex& entry) {
  try {
    return description_of(store, entry);
  } catch (const Error&) {
    return {};
  }
}

/// The regions of the index at these places.
std::vector<layout::DeviceRegion> regions_at(const layout::Manifest& manifest,
                                             std::span<const DeviceExtent> extents) {
  std::vector<layout::DeviceRegion> regions;
  for (std::uint32_t id = 0; id < kRegionCount; ++id) {
    regions.push_back({id, manifest.region(id).kind, extents[id]});
  }
  return regions;
}

/// The sizes of `node`'s regions and of their description.
std::vector<std::uint64_t> sizes_of(const layout::Manifest& manifest, std::uint32_t node,
                                    layout::DeviceDescription description) {
  std::vector<DeviceExtent> unplaced;
  for (std::uint32_t id = 0; id < kRegionCount; ++id) {
    unplaced.push_back({0, manifest.node_bytes(node, id)});
  }
  description.checksums.resize(layout::device_chunks(regions_at(manifest, unplaced)));
  std::vector<std::uint64_t> sizes;
  sizes.reserve(unplaced.size() + 1);
  for (const DeviceExtent& extent : unplaced) sizes.push_back(extent.bytes);
  sizes.push_back(layout::encode_device_description(description).size());
  return sizes;
}

std::vector<std::uint64_t> checksums_of(const DeviceStore& store,
                                        std::span<const layout::DeviceRegion> regions,
                                        unsigned threads) {
  std::vector<std::uint64_t> checksums(layout::device_chunks(regions));
  for_each_stored_chunk(regions, threads, [&](std::size_t number, const StoredChunk& chunk) {
    checksums[number] = layout::device_checksum(store.bytes(chunk.extent));
  });
  return checksums;
}

std::string name_of(const layout::IndexDirectory& index) {
  const std::string name = index.path().filename();
  return name.empty() ? "index" : name;
}

}  // namespace

StoredIndex::StoredIndex(std::shared_ptr<DeviceStore> store, Held held,
                         layout::DeviceDescription description)
    : store_(std::move(store)),
      held_(std::move(held)),
      source_(fmt::format("'{}' on {}", entry().name, store_->memory().path())),
      description_(std::move(description)),
      manifest_(layout::manifest_from_json(description_.manifest_json, source_)) {
  require_regions();
}

StoredIndex::Held StoredIndex::hold(DeviceStore& store, std::uint32_t slot,
                                    const DeviceIndex& entry) {
  return {slot, entry, store.hold(slot, entry.generation)};
}

std::shared_ptr<const StoredIndex> StoredIndex::make(std::shared_ptr<DeviceStore> store, Held held,
                                                     layout::DeviceDescription description) {
  return std::shared_ptr<const StoredIndex>(
      new StoredIndex(std::move(store), std::move(held), std::move(description)));
}

std::shared_ptr<const StoredIndex> StoredIndex::attach(const std::shared_ptr<DeviceStore>& store,
                                                       std::uint32_t slot) {
  const auto entry = store->directory().slots.at(slot);
  if (!entry) throw Error("{} has no index {} any more", store->memory().path(), slot);
  Held held = hold(*store, slot, *entry);
  if (!held.hold) {
    throw Error("{}: '{}' was removed while it was opened", store->memory().path(), entry->name);
  }
  return make(store, std::move(held), description_of(*store, *entry));
}

std::shared_ptr<const StoredIndex> StoredIndex::find(const std::shared_ptr<DeviceStore>& store,
                                                     std::uint32_t node) {
  const layout::DeviceDirectory directory = store->directory();
  for (const std::uint32_t slot : slots_of(directory, node)) {
    Held held = hold(*store, slot, *directory.slots[slot]);
    if (held.hold)
      return make(store, std::move(held), description_of(*store, *directory.slots[slot]));
  }
  return nullptr;
}

std::shared_ptr<const StoredIndex> StoredIndex::find(const std::shared_ptr<DeviceStore>& store,
                                                     const layout::IndexDirectory& index,
                                                     std::uint32_t node) {
  const std::string manifest = layout::manifest_to_json(index.manifest());
  const layout::DeviceDirectory directory = store->directory();
  for (const std::uint32_t slot : slots_of(directory, node)) {
    Held held = hold(*store, slot, *directory.slots[slot]);
    if (!held.hold) continue;
    auto description = whole_description(*store, held.entry);
    if (!description || description->manifest_json != manifest) continue;
    return make(store, std::move(held), *std::move(description));
  }
  return nullptr;
}

void StoredIndex::require_regions() const {
  layout::require_memory_layout(manifest_, source_);
  if (entry().node >= manifest_.memory_nodes() || entry().regions.size() != kRegionCount) {
    throw Error("{} and its manifest do not belong together; remove it and load it again", source_);
  }
  for (const layout::DeviceRegion& region : entry().regions) {
    const layout::RegionEntry& expected = manifest_.region(region.region);
    if (region.kind != expected.kind ||
        region.extent.bytes != manifest_.node_bytes(entry().node, region.region)) {
      throw Error(
          "{}: region {} has {} bytes of {}, the manifest says {} of {}; remove it and "
          "load it again",
          source_, region.region, region.extent.bytes, to_string(region.kind),
          manifest_.node_bytes(entry().node, region.region), to_string(expected.kind));
    }
    layout::require_region_header(
        expected, store_->bytes(region.extent).first(layout::kRegionHeaderBytes), source_);
  }
}

void StoredIndex::verify(unsigned threads,
                         const std::function<void(std::uint64_t)>& on_chunk) const {
  for_each_stored_chunk(
      entry().regions, threads, [&](std::size_t number, const StoredChunk& chunk) {
        const std::uint64_t found = layout::device_checksum(store_->bytes(chunk.extent));
        if (found != description_.checksums[number]) {
          throw Error(
              "{} is damaged: {} bytes of region {} ({}), {} bytes from the device's start, have "
              "checksum {:016x} where {:016x} was stored; 'farvec devices remove' it and load it "
              "again",
              source_, chunk.extent.bytes, chunk.region,
              to_string(entry().regions[chunk.region].kind), chunk.extent.offset, found,
              description_.checksums[number]);
        }
        if (on_chunk) on_chunk(chunk.extent.bytes);
      });
}

std::shared_ptr<const StoredIndex> store_index(const std::shared_ptr<DeviceStore>& store,
                                               const layout::IndexDirectory& index,
                                               std::uint32_t node, const std::string& name,
                                               const layout::LoadOptions& options) {
  const layout::Manifest& manifest = index.manifest();
  layout::require_memory_layout(manifest, index.path().string());
  if (const auto schema = layout::read_index_schema(index.path(), manifest)) {
    layout::require_no_tenants(*schema, index.path().string());
  }
  layout::DeviceDescription description{layout::manifest_to_json(manifest), {}};
  const std::vector<DeviceExtent> extents =
      store->find_space(sizes_of(manifest, node, description));

  DeviceIndex entry;
  entry.node = node;
  entry.name = (name.empty() ? name_of(index) : name).substr(0, layout::kMostDeviceNameBytes);
  entry.regions = regions_at(manifest, extents);
  layout::LoadOptions load = options;
  load.store = [&store](std::byte* to, std::span<const std::byte> from) {
    store->copy(static_cast<std::uint64_t>(to - store->memory().bytes().data()), from);
  };
  for (std::uint32_t id = 0; id < kRegionCount; ++id) {
    index.load_share(id, node, store->bytes(extents[id]), load);
    store->persist(extents[id]);
  }
  description.checksums = checksums_of(*store, entry.regions, options.threads);
  const std::vector<std::byte> described = layout::encode_device_description(description);
  entry.description = extents.back();
  entry.description_checksum = layout::device_checksum(described);
  store->copy(entry.description.offset, described);
  store->persist(entry.description);
  return StoredIndex::attach(store, store->publish(std::move(entry)));
}

}  // namespace farvec::device
