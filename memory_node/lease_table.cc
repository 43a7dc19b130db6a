#include "memory_node/lease_table.h"

#include <algorithm>
#include <utility>

namespace farvec::memory_node {

std::optional<LeaseId> LeaseTable::grant(const std::string& owner, Clock::time_point now,
                                         LeaseKind kind, std::shared_ptr<const Publication> reads) {
  const LeaseId id = random_lease_id();
  std::lock_guard lock(mutex_);
  expire_locked(now);
  if (leases_.size() >= max_leases_) return std::nullopt;
  if (kind == LeaseKind::write && has_writer_locked()) return std::nullopt;
  leases_.emplace(id, Lease{owner, now + duration_, kind, std::move(reads)});
  return id;
}

LeaseTable::Outcome LeaseTable::renew(const LeaseId& id, const std::string& owner,
                                      Clock::time_point now) {
  std::lock_guard lock(mutex_);
  const auto found = leases_.find(id);
  if (found == leases_.end() || found->second.end <= now) return Outcome::not_held;
  if (found->second.owner != owner) return Outcome::of_another;
  found->second.end = now + duration_;
  return Outcome::done;
}

LeaseTable::Outcome LeaseTable::give_back(const LeaseId& id, const std::string& owner) {
  std::lock_guard lock(mutex_);
  const auto found = leases_.find(id);
  if (found == leases_.end()) return Outcome::not_held;
  if (found->second.owner != owner) return Outcome::of_another;
  leases_.erase(found);
  return Outcome::done;
}

void LeaseTable::end_by(const LeaseId& id, Clock::time_point end) {
  std::lock_guard lock(mutex_);
  const auto found = leases_.find(id);
  if (found != leases_.end()) found->second.end = std::min(found->second.end, end);
}

void LeaseTable::extend(const LeaseId& id, Clock::time_point now) {
  std::lock_guard lock(mutex_);
  const auto found = leases_.find(id);
  if (found != leases_.end() && found->second.end > now) found->second.end = now + duration_;
}

void LeaseTable::revoke(const LeaseId& id) {
  std::lock_guard lock(mutex_);
  leases_.erase(id);
}

bool LeaseTable::holds(const LeaseId& id, Clock::time_point now, LeaseKind kind) const {
  return this->kind(id, now) == kind;
}

std::optional<LeaseKind> LeaseTable::kind(const LeaseId& id, Clock::time_point now) const {
  std::lock_guard lock(mutex_);
  const auto found = leases_.find(id);
  if (found == leases_.end() || found->second.end <= now) return std::nullopt;
  return found->second.kind;
}

std::optional<LeaseTable::Clock::time_point> LeaseTable::writer_end(Clock::time_point now) const {
  std::lock_guard lock(mutex_);
  for (const auto& [id, lease] : leases_) {
    if (lease.kind == LeaseKind::write && lease.end > now) return lease.end;
  }
  return std::nullopt;
}

std::shared_ptr<const Publication> LeaseTable::reads(const LeaseId& id) const {
  std::lock_guard lock(mutex_);
  const auto found = leases_.find(id);
  return found != leases_.end() ? found->second.reads : nullptr;
}

void LeaseTable::revoke_all() {
  std::lock_guard lock(mutex_);
  leases_.clear();
}

bool LeaseTable::has_writer_locked() const {
  return std::any_of(leases_.begin(), leases_.end(),
                     [](const auto& entry) { return entry.second.kind == LeaseKind::write; });
}

std::size_t LeaseTable::expire(Clock::time_point now) {
  std::lock_guard lock(mutex_);
  return expire_locked(now);
}

std::size_t LeaseTable::expire_locked(Clock::time_point now) {
  const std::size_t dropped = std::erase_if(leases_, [&](auto& entry) {
    if (entry.second.end > now) return false;
    if (entry.second.kind == LeaseKind::write) ++writer_expirations_;
    return true;
  });
  expirations_ += dropped;
  return dropped;
}

std::size_t LeaseTable::size() const {
  std::lock_guard lock(mutex_);
  return leases_.size();
}

std::uint64_t LeaseTable::expirations() const {
  std::lock_guard lock(mutex_);
  return expirations_;
}

std::uint64_t LeaseTable::writer_expirations() const {
  std::lock_guard lock(mutex_);
  return writer_expirations_;
}

}  // namespace farvec::memory_node
