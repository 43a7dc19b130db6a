#include "memory_node/lease_table.h"

#include <algorithm>
#include <utility>

namespace farvec::memory_node {

std::optional<LeaseId> LeaseTable::grant(const std::string& owner, Clock::time_point now,
                                         LeaseKind kind, std::shared_ptr<const Publication> reads) {
  const LeaseId id = random_lease_id();
  std::lock_guard lock(mutex_);
  expire_locked(now);
  const bool full =
      kind == LeaseKind::write ? has_writer_locked() : counted_locked() >= max_leases_;
  if (full) return std::nullopt;
  leases_.emplace(id, Lease{owner, now + duration_, kind, std::move(reads)});
  return id;
}

std::optional<LeaseId> LeaseTable::grant_beside(const LeaseId& writer, const std::string& owner,
                                                Clock::time_point now) {
  const LeaseId id = random_lease_id();
  std::lock_guard lock(mutex_);
  expire_locked(now);
  const auto held = leases_.find(writer);
  if (held == leases_.end() || held->second.kind != LeaseKind::write ||
      held->second.owner != owner) {
    return std::nullopt;
  }
  const bool taken = std::any_of(leases_.begin(), leases_.end(),
                                 [&](const auto& entry) { return entry.second.writer == writer; });
  if (taken) return std::nullopt;
  leases_.emplace(id, Lease{owner, now + duration_, LeaseKind::read, held->second.reads, writer});
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
  end_companions_locked();
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
  end_companions_locked();
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
  if (dropped > 0) end_companions_locked();
  return dropped;
}

/// Ends leases beside writers whose leases are not held any more.
void LeaseTable::end_companions_locked() {
  std::erase_if(leases_, [this](const auto& entry) {
    return entry.second.writer && !leases_.contains(*entry.second.writer);
  });
}

/// Counts the leases that max_leases_ bounds.
std::size_t LeaseTable::counted_locked() const {
  return static_cast<std::size_t>(
      std::count_if(leases_.begin(), leases_.end(), [](const auto& entry) {
        return entry.second.kind == LeaseKind::read && !entry.second.writer;
      }));
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
