// Memory that keeps its bytes: mapped, written past the caches, made durable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace farvec::device {

enum class MemoryAccess : std::uint8_t { read_only, read_write };

/// A whole device or file, mapped from construction on. Threads may write different bytes at once.
class PersistentMemory {
 public:
  virtual ~PersistentMemory() = default;
  PersistentMemory() = default;
  PersistentMemory(const PersistentMemory&) = delete;
  PersistentMemory& operator=(const PersistentMemory&) = delete;

  /// All of it. Writing needs read_write access.
  virtual std::span<std::byte> bytes() const = 0;
  /// Copies `from` to `offset`, past the caches where the memory gains by it. It is there for
  /// readers of this machine, and durable after persist().
  virtual void copy(std::uint64_t offset, std::span<const std::byte> from) = 0;
  /// Returns when what was written to these bytes outlives a loss of power. Throws SystemError.
  virtual void persist(std::uint64_t offset, std::uint64_t bytes) = 0;
  /// "/dev/dax0.0", for messages.
  virtual const std::string& path() const = 0;
  /// "devdax, durable by cache line", for logs.
  virtual std::string description() const = 0;
  /// Of its pages, in bytes.
  virtual std::uint64_t alignment() const = 0;
  /// How often the device lost what was on its way when power went; 0 where nobody counts.
  virtual std::uint64_t unsafe_shutdowns() const = 0;
  /// An open descriptor of it, which stays this object's: locks are taken on it.
  virtual int descriptor() const = 0;
};

}  // namespace farvec::device
