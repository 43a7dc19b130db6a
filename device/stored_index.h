// A StoredIndex is an index on a memory device: attached in place, or loaded to it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device/device_store.h"
#include "layout/index/index_directory.h"

namespace farvec::device {

/// A StoredIndex is an index, or one memory node's share of it, in its place on the device. It
/// stays there as long as this object lives. Immutable; threads may share it.
class StoredIndex {
 public:
  /// Attaches the index of a slot. Its description, its manifest and its regions' headers are
  /// checked, its payload is not (verify() does that), so that this takes as long for a large index
  /// as for a small one. Throws Error naming the device and what does not fit.
  static std::shared_ptr<const StoredIndex> attach(const std::shared_ptr<DeviceStore>& store,
                                                   std::uint32_t slot);
  /// Attaches the newest index that `node` serves; null when there is none.
  static std::shared_ptr<const StoredIndex> find(const std::shared_ptr<DeviceStore>& store,
                                                 std::uint32_t node);
  /// Attaches what `node` serves of this very index. Null when the device does not have it, or its
  /// description is damaged, so that it has to be loaded again.
  static std::shared_ptr<const StoredIndex> find(const std::shared_ptr<DeviceStore>& store,
                                                 const layout::IndexDirectory& index,
                                                 std::uint32_t node);

  const DeviceStore& store() const { return *store_; }
  std::uint32_t slot() const { return held_.slot; }
  const layout::DeviceIndex& entry() const { return held_.entry; }
  const layout::Manifest& manifest() const { return manifest_; }
  const std::string& manifest_json() const { return description_.manifest_json; }
  /// Returns the place of the region in the whole device.
  const layout::DeviceExtent& extent(std::uint32_t region) const {
    return held_.entry.regions.at(region).extent;
  }
  /// Returns the bytes of header and payload.
  std::span<std::byte> region(std::uint32_t region) const { return store_->bytes(extent(region)); }

  /// Reads everything and compares every checksum. Any of the threads calls `on_chunk` after each
  /// chunk with the number of its bytes; what it throws ends the work and passes through to the
  /// caller. Throws Error at the first checksum that does not match, naming region and offset.
  void verify(unsigned threads, const std::function<void(std::uint64_t)>& on_chunk = {}) const;

 private:
  struct Held {
    std::uint32_t slot;
    layout::DeviceIndex entry;
    SlotHold hold;  ///< empty: it was removed, or another index is there
  };
  StoredIndex(std::shared_ptr<DeviceStore> store, Held held, layout::DeviceDescription description);
  static Held hold(DeviceStore& store, std::uint32_t slot, const layout::DeviceIndex& entry);
  static std::shared_ptr<const StoredIndex> make(std::shared_ptr<DeviceStore> store, Held held,
                                                 layout::DeviceDescription description);
  void require_regions() const;

  const std::shared_ptr<DeviceStore> store_;
  const Held held_;
  const std::string source_;  ///< name for messages
  const layout::DeviceDescription description_;
  const layout::Manifest manifest_;
};

/// Copies what `node` serves of the index to the device, makes it durable, reads it back to compare
/// checksums, and enters it under `name` (when empty, the name of the index's directory), cut to
/// the length that a device's directory holds. Throws Error when there is no room, a checksum of
/// the files does not match, the rows belong to tenants, of which a device knows nothing, or
/// `options.on_chunk` ends it; then the device has what it had.
std::shared_ptr<const StoredIndex> store_index(const std::shared_ptr<DeviceStore>& store,
                                               const layout::IndexDirectory& index,
                                               std::uint32_t node, const std::string& name,
                                               const layout::LoadOptions& options);

}  // namespace farvec::device
