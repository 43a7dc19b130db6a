// PersistentMemory is memory that keeps its bytes: it is mapped, written past the caches, and made
// durable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace farvec::device {

enum class MemoryAccess : std::uint8_t { read_only, read_write };

/// A PersistentMemory is a whole device or file, mapped from construction on. Threads may write
/// different bytes at the same time.
class PersistentMemory {
 public:
  virtual ~PersistentMemory() = default;
  PersistentMemory() = default;
  PersistentMemory(const PersistentMemory&) = delete;
  PersistentMemory& operator=(const PersistentMemory&) = delete;

  /// Returns all of its bytes. Writing needs read_write access.
  virtual std::span<std::byte> bytes() const = 0;
  /// Copies `from` to `offset`, past the caches where that is faster. Readers of this machine see
  /// it at once; it is durable after persist().
  virtual void copy(std::uint64_t offset, std::span<const std::byte> from) = 0;
  /// Returns when everything written to these bytes outlives a loss of power. Throws SystemError.
  virtual void persist(std::uint64_t offset, std::uint64_t bytes) = 0;
  /// Returns the path for messages, "/dev/dax0.0".
  virtual const std::string& path() const = 0;
  /// Returns the kind for logs, "devdax, durable by cache line".
  virtual std::string description() const = 0;
  /// Returns the bytes of its pages.
  virtual std::uint64_t alignment() const = 0;
  /// Says how often the device lost writes that were on their way when power failed; 0 where that
  /// is not counted.
  virtual std::uint64_t unsafe_shutdowns() const = 0;
  /// Returns an open descriptor of it, which the object keeps: locks are taken on it.
  virtual int descriptor() const = 0;
};

}  // namespace farvec::device
