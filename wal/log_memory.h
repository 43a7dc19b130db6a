// A LogMemory is memory elsewhere that holds a copy of a log. It is the interface to memory nodes.
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

/// One thread at a time uses it. Every member throws Error with the name and what failed; an object
/// that failed to write does not write any more.
class LogMemory {
 public:
  virtual ~LogMemory() = default;
  virtual const std::string& name() const = 0;  ///< name for messages
  virtual std::uint64_t bytes() const = 0;
  virtual void read(std::uint64_t offset, std::span<std::byte> to) = 0;
  /// Writes in the order of the calls.
  virtual void write(std::uint64_t offset, std::span<const std::byte> bytes) = 0;
  /// Returns when everything written is where readers find it.
  virtual void flush() = 0;
};

/// LogMemories are all memories of a log; null where one cannot be reached.
using LogMemories = std::vector<std::shared_ptr<LogMemory>>;

/// Reaches the memory with that number anew, for reading and writing. Throws Error when that is not
/// possible yet; ends early when `stop` becomes true.
using LogReach =
    std::function<std::shared_ptr<LogMemory>(std::size_t copy, const std::atomic<bool>& stop)>;

/// LogCopies has the number of memories that the log should be on, and of those that have all of it
/// now. Both are 0 for a log in a folder.
struct LogCopies {
  std::uint32_t wanted = 0;
  std::uint32_t there = 0;

  bool operator==(const LogCopies&) const = default;
};

}  // namespace farvec::wal
