#include "device/device_store.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "base/file_names.h"
#include "base/memory.h"
#include "device/pmem_memory.h"

namespace farvec::device {
namespace {

using layout::DeviceDirectory;
using layout::kDeviceUnitBytes;

/// A reader may find a directory while it is written, or a slot while it is freed.
constexpr int kReadAttempts = 8;
constexpr std::chrono::microseconds kReadPause{200};

std::uint64_t random_number() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

std::int64_t unix_seconds() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

void require_writer(DeviceLocks& locks, const std::string& path) {
  if (locks.take_writer()) return;
  throw Error(
      "{} is written by another process, a memory node or 'farvec devices'; stop that, or use "
      "another device",
      path);
}

/// What format() would destroy; empty when nothing can be seen.
std::string contents_of(const PersistentMemory& memory) {
  const auto head = memory.bytes().first(kDeviceUnitBytes);
  if (layout::has_device_directory(head)) return "indexes of farvec, or did";
  const bool blank =
      std::all_of(head.begin(), head.end(), [](std::byte byte) { return byte == std::byte{0}; });
  return blank ? "" : "something that is not farvec's";
}

void write_copy(PersistentMemory& memory, const DeviceDirectory& directory, std::uint32_t copy) {
  const std::vector<std::byte> bytes = layout::encode_device_directory(directory);
  memory.copy(layout::device_copy_offset(copy), bytes);
  memory.persist(layout::device_copy_offset(copy), bytes.size());
}

layout::ReadDeviceDirectory read_directory(const PersistentMemory& memory) {
  for (int attempt = 1;; ++attempt) {
    try {
      return layout::read_device_directory(
          memory.bytes().first(std::min<std::size_t>(memory.bytes().size(), kDeviceUnitBytes)),
          memory.bytes().size(), memory.path());
    } catch (const Error&) {
      if (attempt == kReadAttempts) throw;
    }
    std::this_thread::sleep_for(kReadPause);
  }
}

/// Reads the directory again when a copy looks damaged: a copy that is being written does, but not
/// for long.
layout::ReadDeviceDirectory read_settled_directory(const PersistentMemory& memory) {
  layout::ReadDeviceDirectory read = read_directory(memory);
  for (int attempt = 1; !read.other_damage.empty() && attempt < kReadAttempts; ++attempt) {
    std::this_thread::sleep_for(kReadPause);
    read = read_directory(memory);
  }
  return read;
}

}  // namespace

void DeviceStore::format(std::unique_ptr<PersistentMemory> memory, bool force) {
  if (memory->bytes().size() < 2 * kDeviceUnitBytes) {
    throw Error("{} has {} bytes; {} are the least that hold an index", memory->path(),
                memory->bytes().size(), 2 * kDeviceUnitBytes);
  }
  DeviceLocks locks(memory->descriptor());
  require_writer(locks, memory->path());
  for (std::uint32_t slot = 0; slot < layout::kDeviceSlots; ++slot) {
    if (!locks.take_sole(slot)) {
      throw Error("{}: an index on it is being read; stop those who read it", memory->path());
    }
  }
  const std::string contents = contents_of(*memory);
  if (!contents.empty() && !force) {
    throw Error("{} holds {}; --force forgets that", memory->path(), contents);
  }
  DeviceDirectory directory;
  directory.uuid = {random_number(), random_number()};
  directory.device_bytes = memory->bytes().size();
  directory.unsafe_shutdowns = memory->unsafe_shutdowns();
  // A device that was farvec's has its old state or the new one at every moment: the older copy is
  // overwritten first, with a sequence above the other's.
  std::uint32_t first = 0;
  try {
    const auto read = read_directory(*memory);
    directory.sequence = read.directory.sequence;
    first = 1 - read.copy;
  } catch (const Error&) {
    // There is nothing that could be kept.
  }
  ++directory.sequence;
  write_copy(*memory, directory, first);
  write_copy(*memory, directory, 1 - first);
}

DeviceStore::DeviceStore(std::unique_ptr<PersistentMemory> memory, MemoryAccess access)
    : memory_(std::move(memory)), access_(access), locks_(memory_->descriptor()) {}

std::shared_ptr<DeviceStore> DeviceStore::open(std::unique_ptr<PersistentMemory> memory,
                                               MemoryAccess access, bool allow_unsafe) {
  std::shared_ptr<DeviceStore> store(new DeviceStore(std::move(memory), access));
  store->open_directory(allow_unsafe);
  return store;
}

void DeviceStore::open_directory(bool allow_unsafe) {
  if (access_ == MemoryAccess::read_write) require_writer(locks_, memory_->path());
  newest_ = read_settled_directory(*memory_);
  damage_ = newest_.other_damage;
  const std::uint64_t counted = memory_->unsafe_shutdowns();
  if (counted > newest_.directory.unsafe_shutdowns && !allow_unsafe) {
    throw Error(
        "{} counts {} unsafe shutdowns, {} when it was last known to be whole: it may have lost "
        "bytes. 'farvec devices check --trust {}' verifies every index and says so",
        memory_->path(), counted, newest_.directory.unsafe_shutdowns, memory_->path());
  }
  if (access_ == MemoryAccess::read_write && !newest_.copies_agree) commit(newest_.directory);
}

DeviceDirectory DeviceStore::directory() const {
  if (access_ == MemoryAccess::read_only) return read_directory(*memory_).directory;
  const std::lock_guard lock(mutex_);
  return newest_.directory;
}

SlotHold DeviceStore::hold(std::uint32_t slot, std::uint64_t generation) {
  {
    const std::lock_guard lock(mutex_);
    bool held = holds_.at(slot) > 0;
    for (int attempt = 0; !held && attempt < kReadAttempts; ++attempt) {
      held = locks_.take_reader(slot);
    }
    if (!held) return {};
    ++holds_[slot];
  }
  const SlotHold hold(this,
                      [self = shared_from_this(), slot](const void*) { self->give_back(slot); });
  // Only from now on the slot cannot be freed any more: is the index still there?
  const std::optional<layout::DeviceIndex> index = directory().slots[slot];
  return index && index->generation == generation ? hold : SlotHold{};
}

void DeviceStore::give_back(std::uint32_t slot) {
  const std::lock_guard lock(mutex_);
  if (--holds_[slot] == 0) locks_.give_back(slot);
}

std::vector<layout::DeviceExtent> DeviceStore::find_space(
    std::span<const std::uint64_t> sizes) const {
  const DeviceDirectory now = directory();
  (void)now.free_slot();
  return layout::find_device_space(now, sizes, memory_->path());
}

std::uint32_t DeviceStore::publish(layout::DeviceIndex index) {
  const std::lock_guard lock(mutex_);
  DeviceDirectory changed = newest_.directory;
  const std::uint32_t slot = changed.free_slot();
  do {
    index.generation = random_number();
  } while (index.generation == 0);
  index.sequence = changed.sequence + 1;
  index.published = unix_seconds();
  changed.slots[slot] = std::move(index);
  commit(std::move(changed));
  return slot;
}

bool DeviceStore::remove(std::uint32_t slot) {
  const std::lock_guard lock(mutex_);
  if (holds_.at(slot) > 0 || !locks_.take_sole(slot)) return false;
  DeviceDirectory changed = newest_.directory;
  changed.slots[slot].reset();
  try {
    commit(std::move(changed));
  } catch (...) {
    locks_.give_back(slot);
    throw;
  }
  locks_.give_back(slot);
  return true;
}

void DeviceStore::trust() {
  const std::lock_guard lock(mutex_);
  DeviceDirectory changed = newest_.directory;
  changed.unsafe_shutdowns = memory_->unsafe_shutdowns();
  commit(std::move(changed));
}

void DeviceStore::commit(DeviceDirectory directory) {
  FARVEC_CHECK(access_ == MemoryAccess::read_write, "{} is open to read", memory_->path());
  ++directory.sequence;
  const std::uint32_t copy = 1 - newest_.copy;
  try {
    write_copy(*memory_, directory, copy);
  } catch (...) {
    // A change that could not be made durable must not take effect later, when its space belongs to
    // another index.
    memory_->copy(layout::device_copy_offset(copy), std::vector<std::byte>(kCacheLineBytes));
    throw;
  }
  const std::uint32_t other = std::exchange(newest_.copy, copy);
  newest_.directory = std::move(directory);
  write_other(other);
}

/// The change has already taken effect. A failure to write its second copy is logged, and repaired
/// by the next change or the next writer.
void DeviceStore::write_other(std::uint32_t copy) {
  try {
    write_copy(*memory_, newest_.directory, copy);
  } catch (const Error& error) {
    spdlog::error("{}: copy {} of the directory could not be written: {}", memory_->path(), copy,
                  error.what());
  }
}

std::shared_ptr<DeviceStore> open_store(const std::string& path, const StoreOptions& options) {
  return DeviceStore::open(
      open_pmem(settled_path(path).string(),
                {.access = options.access, .allow_bad_blocks = options.allow_bad_blocks}),
      options.access, options.allow_unsafe);
}

}  // namespace farvec::device
