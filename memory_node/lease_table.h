// Who may use the regions, and until when.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "memory_node/random_id.h"

namespace farvec::memory_node {

struct Publication;

/// What a lease lets its holder do with the regions.
enum class LeaseKind { read, write };

/// A bounded set of leases that end unless renewed. The one lease for writing, and the one that its
/// holder reads with, are beside the bound, so that readers never keep the writer out. Thread-safe.
/// The caller says what time it is.
class LeaseTable {
 public:
  using Clock = std::chrono::steady_clock;
  /// What became of a request about a lease.
  enum class Outcome { done, not_held, of_another };

  LeaseTable(std::size_t max_leases, std::chrono::milliseconds duration)
      : max_leases_(max_leases), duration_(duration) {}

  std::chrono::milliseconds duration() const { return duration_; }

  /// Nothing when max_leases are held for reading, or one for writing is and `kind` is another.
  /// Only `owner` (rpc::peer_identity) may renew it or give it back. `reads` is kept while the
  /// lease is; it may be null, and must not be the last reference to what it names.
  std::optional<LeaseId> grant(const std::string& owner, Clock::time_point now,
                               LeaseKind kind = LeaseKind::read,
                               std::shared_ptr<const Publication> reads = nullptr);
  /// For reading what the lease for writing opens; it ends with that one. Nothing when `owner` does
  /// not hold `writer`, or this was granted before and is held still.
  std::optional<LeaseId> grant_beside(const LeaseId& writer, const std::string& owner,
                                      Clock::time_point now);
  /// An expired lease is not held.
  Outcome renew(const LeaseId& id, const std::string& owner, Clock::time_point now);
  Outcome give_back(const LeaseId& id, const std::string& owner);
  /// It ends then, or with its usual time if that comes first, unless it is renewed. Nothing when
  /// it is not held.
  void end_by(const LeaseId& id, Clock::time_point end);
  /// As renew(), whoever owns it: for who shows the lease instead of a name.
  void extend(const LeaseId& id, Clock::time_point now);
  /// Takes it back, whoever owns it.
  void revoke(const LeaseId& id);
  /// False also when the lease is of another kind.
  bool holds(const LeaseId& id, Clock::time_point now, LeaseKind kind = LeaseKind::read) const;
  /// Nothing when it is not held.
  std::optional<LeaseKind> kind(const LeaseId& id, Clock::time_point now) const;
  /// Until when the lease for writing runs; nothing when nobody has it.
  std::optional<Clock::time_point> writer_end(Clock::time_point now) const;
  /// What the lease was granted for; null when there is no such lease.
  std::shared_ptr<const Publication> reads(const LeaseId& id) const;
  /// Takes all of them back.
  void revoke_all();
  /// Drops what has ended; returns how many.
  std::size_t expire(Clock::time_point now);

  std::size_t size() const;
  std::uint64_t expirations() const;
  /// Of these, leases for writing.
  std::uint64_t writer_expirations() const;

 private:
  struct Lease {
    std::string owner;
    Clock::time_point end;
    LeaseKind kind;
    std::shared_ptr<const Publication> reads;
    std::optional<LeaseId> writer = {};  ///< of one that was granted beside it
  };

  std::size_t expire_locked(Clock::time_point now);
  void end_companions_locked();
  std::size_t counted_locked() const;
  bool has_writer_locked() const;

  const std::size_t max_leases_;
  const std::chrono::milliseconds duration_;
  mutable std::mutex mutex_;
  std::map<LeaseId, Lease> leases_;
  std::uint64_t expirations_ = 0;
  std::uint64_t writer_expirations_ = 0;
};

}  // namespace farvec::memory_node
