// Memory elsewhere that holds a copy of a log: the seam to memory nodes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace farvec::wal {

/// Used by one thread at a time. Everything throws Error with the name and what failed; whoever
/// failed to write does not write any more.
class LogMemory {
 public:
  virtual ~LogMemory() = default;
  virtual const std::string& name() const = 0;  ///< for messages
  virtual std::uint64_t bytes() const = 0;
  virtual void read(std::uint64_t offset, std::span<std::byte> to) = 0;
  /// In the order of the calls.
  virtual void write(std::uint64_t offset, std::span<const std::byte> bytes) = 0;
  /// Returns when all that was written is where readers find it.
  virtual void flush() = 0;
};

/// Of all memories that a log lies on, null where one cannot be reached.
using LogMemories = std::vector<std::shared_ptr<LogMemory>>;

/// The memory of that number, reached anew for reading and writing. Throws Error when it cannot be
/// yet; ends early when `stop` becomes true.
using LogReach =
    std::function<std::shared_ptr<LogMemory>(std::size_t copy, const std::atomic<bool>& stop)>;

/// Memories that a log is to lie on, and those that have all of it now. 0 and 0: it lies in a
/// folder.
struct LogCopies {
  std::uint32_t wanted = 0;
  std::uint32_t there = 0;

  bool operator==(const LogCopies&) const = default;
};

}  // namespace farvec::wal
