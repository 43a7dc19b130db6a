// A memory device that farvec divides among indexes: who has which bytes, kept on the device.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "device/device_locks.h"
#include "device/persistent_memory.h"
#include "layout/device/device_directory.h"

namespace farvec::device {

/// Keeps a slot's index where it is: as long as one of these lives in any process of this machine,
/// nobody frees it.
using SlotHold = std::shared_ptr<const void>;

/// Many processes of a machine may have one device open to read, one of them to write.
///
/// Whatever a writer does becomes true with one write of a copy of the directory, after everything
/// that it names is durable: when power goes at any moment, the device has the state before or the
/// state after. The other copy is written next, so that either of them alone has all that was
/// published. Space that an unfinished load took is free again,
/// because nobody but that load knew of it.
///
/// Thread-safe, but for what a writer puts into the space that it found: one load at a time.
/// Machines that share a device see no locks of each other: one of them writes, and only while the
/// others have closed what it frees (docs/devices.md).
class DeviceStore : public std::enable_shared_from_this<DeviceStore> {
 public:
  /// Writes an empty directory. Throws Error when the device is too small, is in use, or holds
  /// something already, unless `force` says that this may be forgotten.
  static void format(std::unique_ptr<PersistentMemory> memory, bool force);

  /// Reads the directory; with read_write access as the only writer, which mends a copy that was
  /// damaged. Throws Error when the device has none, when it is damaged, when another process is
  /// the writer, or when the device has counted unsafe shutdowns since it was last known to be
  /// whole and `allow_unsafe` does not say that this is looked at.
  static std::shared_ptr<DeviceStore> open(std::unique_ptr<PersistentMemory> memory,
                                           MemoryAccess access, bool allow_unsafe = false);

  const PersistentMemory& memory() const { return *memory_; }
  std::span<std::byte> bytes(const layout::DeviceExtent& extent) const {
    return memory_->bytes().subspan(extent.offset, extent.bytes);
  }
  /// Empty: both copies were whole when it was opened.
  const std::string& damage() const { return damage_; }

  /// As the device has it now.
  layout::DeviceDirectory directory() const;

  /// Keeps the index where it is. Empty: the slot has another index by now, or none.
  SlotHold hold(std::uint32_t slot, std::uint64_t generation);

  // For the writer alone.
  /// Space for a new index, taken by nobody until publish(). Throws Error when there is none.
  std::vector<layout::DeviceExtent> find_space(std::span<const std::uint64_t> sizes) const;
  /// Past the caches; durable after persist().
  void copy(std::uint64_t offset, std::span<const std::byte> from) { memory_->copy(offset, from); }
  void persist(const layout::DeviceExtent& extent) {
    memory_->persist(extent.offset, extent.bytes);
  }
  /// Enters an index whose bytes are durable. `index.generation`, `sequence` and `published` are
  /// filled in here. Throws SystemError when the directory cannot be written; then it is as before.
  std::uint32_t publish(layout::DeviceIndex index);
  /// Frees the slot's space. False: somebody reads it.
  bool remove(std::uint32_t slot);
  /// Everything was verified: unsafe shutdowns up to now are no reason to doubt any more.
  void trust();

 private:
  DeviceStore(std::unique_ptr<PersistentMemory> memory, MemoryAccess access);
  void open_directory(bool allow_unsafe);
  void commit(layout::DeviceDirectory directory);
  void write_other(std::uint32_t copy);
  void give_back(std::uint32_t slot);

  const std::unique_ptr<PersistentMemory> memory_;
  const MemoryAccess access_;
  DeviceLocks locks_;
  std::string damage_;
  mutable std::mutex mutex_;            ///< for what follows
  layout::ReadDeviceDirectory newest_;  ///< the writer's; a reader reads the device
  std::array<std::uint32_t, layout::kDeviceSlots> holds_{};  ///< of this object, by slot
};

/// A device or file by its path.
struct StoreOptions {
  MemoryAccess access = MemoryAccess::read_only;
  bool allow_bad_blocks = false;
  bool allow_unsafe = false;
};
std::shared_ptr<DeviceStore> open_store(const std::string& path, const StoreOptions& options = {});

}  // namespace farvec::device
