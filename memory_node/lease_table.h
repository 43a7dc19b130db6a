// Who may use the regions, and until when.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "memory_node/random_id.h"

namespace farvec::memory_node {

/// A bounded set of leases that end unless renewed. Thread-safe. The caller says what time it is.
class LeaseTable {
 public:
  using Clock = std::chrono::steady_clock;

  LeaseTable(std::size_t max_leases, std::chrono::milliseconds duration)
      : max_leases_(max_leases), duration_(duration) {}

  std::chrono::milliseconds duration() const { return duration_; }

  /// Nothing when max_leases are held.
  std::optional<LeaseId> grant(Clock::time_point now);
  /// False when the lease is not held, or has expired.
  bool renew(const LeaseId& id, Clock::time_point now);
  /// False when it is not held.
  bool release(const LeaseId& id);
  bool holds(const LeaseId& id, Clock::time_point now) const;
  /// Drops what has ended; returns how many.
  std::size_t expire(Clock::time_point now);

  std::size_t size() const;
  std::uint64_t expirations() const;

 private:
  std::size_t expire_locked(Clock::time_point now);

  const std::size_t max_leases_;
  const std::chrono::milliseconds duration_;
  mutable std::mutex mutex_;
  std::map<LeaseId, Clock::time_point> ends_;
  std::uint64_t expirations_ = 0;
};

}  // namespace farvec::memory_node
