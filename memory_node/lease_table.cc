#include "memory_node/lease_table.h"

namespace farvec::memory_node {

std::optional<LeaseId> LeaseTable::grant(Clock::time_point now) {
  const LeaseId id = random_lease_id();
  std::lock_guard lock(mutex_);
  expire_locked(now);
  if (ends_.size() >= max_leases_) return std::nullopt;
  ends_.emplace(id, now + duration_);
  return id;
}

bool LeaseTable::renew(const LeaseId& id, Clock::time_point now) {
  std::lock_guard lock(mutex_);
  const auto found = ends_.find(id);
  if (found == ends_.end() || found->second <= now) return false;
  found->second = now + duration_;
  return true;
}

bool LeaseTable::release(const LeaseId& id) {
  std::lock_guard lock(mutex_);
  return ends_.erase(id) == 1;
}

bool LeaseTable::holds(const LeaseId& id, Clock::time_point now) const {
  std::lock_guard lock(mutex_);
  const auto found = ends_.find(id);
  return found != ends_.end() && found->second > now;
}

std::size_t LeaseTable::expire(Clock::time_point now) {
  std::lock_guard lock(mutex_);
  return expire_locked(now);
}

std::size_t LeaseTable::expire_locked(Clock::time_point now) {
  const std::size_t dropped =
      std::erase_if(ends_, [&](auto& entry) { return entry.second <= now; });
  expirations_ += dropped;
  return dropped;
}

std::size_t LeaseTable::size() const {
  std::lock_guard lock(mutex_);
  return ends_.size();
}

std::uint64_t LeaseTable::expirations() const {
  std::lock_guard lock(mutex_);
  return expirations_;
}

}  // namespace farvec::memory_node
