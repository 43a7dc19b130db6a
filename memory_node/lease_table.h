// A LeaseTable knows which clients may use the regions, and until when.
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

/// A LeaseTable is a bounded set of leases that end unless renewed. The one lease for writing, and
/// the one that its holder reads with, are not counted in the bound, so that readers never keep the
/// writer out. Thread-safe. The caller says what time it is.
class LeaseTable {
 public:
  using Clock = std::chrono::steady_clock;
  /// The outcome of a request about a lease.
  enum class Outcome { done, not_held, of_another };

  LeaseTable(std::size_t max_leases, std::chrono::milliseconds duration)
      : max_leases_(max_leases), duration_(duration) {}

  std::chrono::milliseconds duration() const { return duration_; }

  /// Grants a lease. Returns nothing for one for reading when max_leases are held for reading, and
  /// for one for writing when another for writing is held. Only `owner` (rpc::peer_identity) may
  /// renew it or give it back. `reads` is kept while the lease is; it may be null, and must not be
  /// the last reference to the publication.
  std::optional<LeaseId> grant(const std::string& owner, Clock::time_point now,
                               LeaseKind kind = LeaseKind::read,
                               std::shared_ptr<const Publication> reads = nullptr);
  /// Grants a lease for reading what the lease for writing opens; it ends with that one. Nothing
  /// when `owner` does not hold `writer`, or this was granted before and is still held.
  std::optional<LeaseId> grant_beside(const LeaseId& writer, const std::string& owner,
                                      Clock::time_point now);
  /// A lease that has expired is not held.
  Outcome renew(const LeaseId& id, const std::string& owner, Clock::time_point now);
  Outcome give_back(const LeaseId& id, const std::string& owner);
  /// Ends the lease at that time, or at its usual time if that comes first, unless it is renewed.
  /// It does nothing when the lease is not held.
  void end_by(const LeaseId& id, Clock::time_point end);
  /// Renews the lease for any owner: for clients that show the lease instead of a name.
  void extend(const LeaseId& id, Clock::time_point now);
  /// Takes the lease back from any owner.
  void revoke(const LeaseId& id);
  /// Returns false also when the lease is of another kind.
  bool holds(const LeaseId& id, Clock::time_point now, LeaseKind kind = LeaseKind::read) const;
  /// Returns nothing when the lease is not held.
  std::optional<LeaseKind> kind(const LeaseId& id, Clock::time_point now) const;
  /// Returns the end of the lease for writing; nothing when there is none.
  std::optional<Clock::time_point> writer_end(Clock::time_point now) const;
  /// Returns what the lease was granted for; null when there is no such lease.
  std::shared_ptr<const Publication> reads(const LeaseId& id) const;
  /// Takes all leases back.
  void revoke_all();
  /// Drops the leases that have ended, and returns how many.
  std::size_t expire(Clock::time_point now);

  std::size_t size() const;
  std::uint64_t expirations() const;
  /// Returns the expirations of leases for writing, which expirations() includes.
  std::uint64_t writer_expirations() const;

 private:
  struct Lease {
    std::string owner;
    Clock::time_point end;
    LeaseKind kind;
    std::shared_ptr<const Publication> reads;
    std::optional<LeaseId> writer = {};  ///< set in a lease that was granted beside it
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
