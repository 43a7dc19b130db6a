// A DeviceStore is a memory device that farvec divides among indexes: it keeps on the device which
// index has which bytes.
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

/// Keeps a slot's index in place: as long as such an object lives in any process of this machine,
/// the slot is not freed.
using SlotHold = std::shared_ptr<const void>;

/// Many processes of a machine may have one device open to read, one of them to write.
///
/// Everything that a writer does takes effect with one write of a copy of the directory, after
/// everything that it names is durable. When power fails at any moment, the device has the state
/// before or the state after. The other copy is written next, so that each copy alone has all that
/// was published. Space that an unfinished load took is free again, because only that load knew of
/// it.
///
/// Thread-safe, except for the bytes that a writer puts into the space that it found: one load at a
/// time. Machines that share a device do not see each other's locks. One of them may write, and
/// only while the others have closed what it frees (docs/operate/devices.md).
class DeviceStore : public std::enable_shared_from_this<DeviceStore> {
 public:
  /// Writes an empty directory. Throws Error when the device is too small, is in use, or already
  /// holds something, unless `force` says that this may be lost.
  static void format(std::unique_ptr<PersistentMemory> memory, bool force);

  /// Reads the directory. With read_write access it is the only writer, and repairs a damaged copy.
  /// Throws Error when the device has none, when it is damaged, or when another process is the
  /// writer. Throws Error also when the device has counted unsafe shutdowns since it was last known
  /// to be whole, unless `allow_unsafe` says that the caller takes care of that.
  static std::shared_ptr<DeviceStore> open(std::unique_ptr<PersistentMemory> memory,
                                           MemoryAccess access, bool allow_unsafe = false);

  const PersistentMemory& memory() const { return *memory_; }
  std::span<std::byte> bytes(const layout::DeviceExtent& extent) const {
    return memory_->bytes().subspan(extent.offset, extent.bytes);
  }
  /// Empty when both copies were whole at opening.
  const std::string& damage() const { return damage_; }

  /// Returns the directory that the device has now.
  layout::DeviceDirectory directory() const;

  /// Keeps the index in place. Empty when the slot has another index by now, or none.
  SlotHold hold(std::uint32_t slot, std::uint64_t generation);

  // Only the writer calls these.
  /// Finds space for a new index, which stays free until publish(). Throws Error when there is
  /// none.
  std::vector<layout::DeviceExtent> find_space(std::span<const std::uint64_t> sizes) const;
  /// Copies past the caches; durable after persist().
  void copy(std::uint64_t offset, std::span<const std::byte> from) { memory_->copy(offset, from); }
  void persist(const layout::DeviceExtent& extent) {
    memory_->persist(extent.offset, extent.bytes);
  }
  /// Enters an index whose bytes are durable. `index.generation`, `sequence` and `published` are
  /// filled in here. Throws SystemError when the directory cannot be written; then nothing has
  /// changed.
  std::uint32_t publish(layout::DeviceIndex index);
  /// Frees the slot's space. False when there is a reader.
  bool remove(std::uint32_t slot);
  /// Says that everything was verified: unsafe shutdowns up to now are no reason for doubt any
  /// more.
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
  mutable std::mutex mutex_;            ///< guards what follows
  layout::ReadDeviceDirectory newest_;  ///< the writer's copy; a reader reads the device
  std::array<std::uint32_t, layout::kDeviceSlots> holds_{};  ///< holds of this object, per slot
};

/// Says how to open a device or file, by its path.
struct StoreOptions {
  MemoryAccess access = MemoryAccess::read_only;
  bool allow_bad_blocks = false;
  bool allow_unsafe = false;
};
std::shared_ptr<DeviceStore> open_store(const std::string& path, const StoreOptions& options = {});

}  // namespace farvec::device
