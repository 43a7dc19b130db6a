// Indexes that lie on a memory device: attached where they are, or loaded there.
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

/// An index, or one memory node's share of it, where it lies. It stays there as long as this
/// object lives. Immutable; may be shared by threads.
class StoredIndex {
 public:
  /// Takes the index of a slot: its description, its manifest and its regions' headers are checked,
  /// their payload is not (verify()), so that this takes as long for a large index as for a small
  /// one. Throws Error naming the device and what does not fit.
  static std::shared_ptr<const StoredIndex> attach(const std::shared_ptr<DeviceStore>& store,
                                                   std::uint32_t slot);
  /// As attach(), of the newest index that `node` serves; null: there is none.
  static std::shared_ptr<const StoredIndex> find(const std::shared_ptr<DeviceStore>& store,
                                                 std::uint32_t node);
  /// As attach(), of what `node` serves of this very index; null: it does not lie there, or its
  /// description is damaged, so that it is to be loaded again.
  static std::shared_ptr<const StoredIndex> find(const std::shared_ptr<DeviceStore>& store,
                                                 const layout::IndexDirectory& index,
                                                 std::uint32_t node);

  const DeviceStore& store() const { return *store_; }
  std::uint32_t slot() const { return held_.slot; }
  const layout::DeviceIndex& entry() const { return held_.entry; }
  const layout::Manifest& manifest() const { return manifest_; }
  const std::string& manifest_json() const { return description_.manifest_json; }
  /// Of the whole device.
  const layout::DeviceExtent& extent(std::uint32_t region) const {
    return held_.entry.regions.at(region).extent;
  }
  /// Header and payload.
  std::span<std::byte> region(std::uint32_t region) const { return store_->bytes(extent(region)); }

  /// Reads everything and compares every checksum. `on_chunk` is called after each with its bytes,
  /// by any of the threads; what it throws ends the work and comes out of it. Throws Error at the
  /// first that does not match, naming region and offset.
  void verify(unsigned threads, const std::function<void(std::uint64_t)>& on_chunk = {}) const;

 private:
  struct Held {
    std::uint32_t slot;
    layout::DeviceIndex entry;
    SlotHold hold;  ///< empty: it was removed, or another is there
  };
  StoredIndex(std::shared_ptr<DeviceStore> store, Held held, layout::DeviceDescription description);
  static Held hold(DeviceStore& store, std::uint32_t slot, const layout::DeviceIndex& entry);
  static std::shared_ptr<const StoredIndex> make(std::shared_ptr<DeviceStore> store, Held held,
                                                 layout::DeviceDescription description);
  void require_regions() const;

  const std::shared_ptr<DeviceStore> store_;
  const Held held_;
  const std::string source_;  ///< for messages
  const layout::DeviceDescription description_;
  const layout::Manifest manifest_;
};

/// Copies what `node` serves of the index to the device, makes it durable, reads it back for its
/// checksums and enters it, under `name` (empty: that of the index's directory), cut to what a
/// device's directory holds. Throws Error when there is no room, a checksum of the files does not
/// match, or `options.on_chunk` ends it; then the device has what it had.
std::shared_ptr<const StoredIndex> store_index(const std::shared_ptr<DeviceStore>& store,
                                               const layout::IndexDirectory& index,
                                               std::uint32_t node, const std::string& name,
                                               const layout::LoadOptions& options);

}  // namespace farvec::device
