// A PageLoader reads pages from a disk for a pool, and tells a PageSink when they have come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/clock.h"
#include "base/status.h"

namespace farvec::slotted {

/// A PageRequest is a page to read into a buffer. The disk owns the destination until the sink is
/// told that it does not.
struct PageRequest {
  std::uint32_t ticket = 0;  ///< the sink's number for it; the sink gets it back
  std::uint32_t page = 0;
  std::byte* destination = nullptr;
  Ticks deadline = 0;
};

/// Starts reads of pages for one core.
class PageLoader {
 public:
  virtual ~PageLoader() = default;
  /// Starts all reads, or none and says why. It never suspends and does not call the sink. Every
  /// read that was started ends, by its deadline at the latest.
  virtual Status start(std::span<const PageRequest> requests) = 0;
  /// Tells the sink what has ended meanwhile. Fibers may call it too.
  virtual void poll() = 0;
};

/// Is told of the reads, on the core's thread.
class PageSink {
 public:
  virtual ~PageSink() = default;
  /// Called once for every read: the page is in its destination, or the status says why not. With
  /// `destination_out` the disk may still write there, and page_returned() follows.
  virtual void page_ended(std::uint32_t ticket, Status status, bool destination_out) = 0;
  virtual void page_returned(std::uint32_t ticket) = 0;
};

}  // namespace farvec::slotted
