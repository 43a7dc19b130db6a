// A RegionWriter does one-sided writes into named regions. It is the interface for code that fills
// a memory node's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/status.h"
#include "transport/endpoint.h"

namespace farvec::transport {

/// One thread uses it. After a failure it is dead: every call returns the status that ended it, and
/// what was written since the last flush() may or may not be in the node's memory. Every wait has a
/// deadline.
class RegionWriter {
 public:
  RegionWriter() = default;
  virtual ~RegionWriter() = default;
  RegionWriter(const RegionWriter&) = delete;
  RegionWriter& operator=(const RegionWriter&) = delete;

  /// Copies the bytes and returns when they are on their way, in the order of the calls; waits for
  /// room. invalid_argument when they do not fit the region: then nothing has happened, and the
  /// writer stays usable.
  virtual Status write(RegionId region, std::uint64_t offset, std::span<const std::byte> bytes) = 0;

  /// Returns when everything written is in the node's memory, where readers find it. Whether it
  /// outlives a loss of power is up to the node.
  virtual Status flush() = 0;

  /// Returns 0 when there is no such region.
  virtual std::uint64_t region_bytes(RegionId region) const = 0;
  /// Is not ok when the writer is dead.
  virtual const Status& status() const = 0;
};

/// Every writer makes these checks before it starts a write into a region of `region_bytes` bytes
/// (0 when there is no such region).
inline Status check_write(std::uint64_t offset, std::size_t bytes, std::uint64_t region_bytes) {
  if (region_bytes == 0) return {StatusCode::invalid_argument, "no such region"};
  if (offset > region_bytes || bytes > region_bytes - offset) {
    return {StatusCode::invalid_argument, "the write is outside its region"};
  }
  return {};
}

}  // namespace farvec::transport
