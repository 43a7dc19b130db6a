// A LogStore is memory that one client at a time writes over the network, and any number of others
// read.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "memory_node/lease_table.h"
#include "memory_node/publication.h"

namespace farvec::memory_node {

struct LogOptions {
  std::uint64_t bytes = 0;  ///< 0: no log
  BackingOptions backing;
  PathOptions paths;
};

/// A LogStore is one region of zeros, in memory as long as the store lives. The node never reads
/// it, and never writes it again. An epoch, which grows from writer to writer, says which writer
/// has written. Thread-safe.
class LogStore {
 public:
  struct Holder {
    LeaseId lease;
    std::uint64_t epoch = 0;  ///< a writer's own; for a reader it is the newest writer's
  };
  /// The greatest epoch that a client may ask for, so that there is always a next one.
  static constexpr std::uint64_t kMaxAskedEpoch = std::uint64_t{1} << 62;

  /// Takes the memory and opens the ways to it. `leases` must outlive it. Throws Error when there
  /// is no such memory, or a way cannot be opened.
  LogStore(const LogOptions& options, LeaseTable& leases);

  /// Returns a table with the log as its only region. It is never replaced.
  const std::shared_ptr<const Publication>& publication() const { return publication_; }
  std::uint64_t bytes() const { return publication_->table->total_bytes(); }

  /// Grants a lease for writing, with an epoch above every one before it and above `epoch_above`,
  /// which is at most kMaxAskedEpoch. When this returns, no earlier writer can write any more,
  /// except through a mapping, which cannot be taken back. Nothing when another writer's lease
  /// runs.
  std::optional<Holder> grant_writer(const std::string& owner, std::uint64_t epoch_above);
  /// Grants a lease for reading. `writer` is the owner's lease for writing, if it has one: then the
  /// lease is not counted in the bound on leases. Nothing when every lease is taken.
  std::optional<Holder> grant_reader(const std::string& owner,
                                     const std::optional<LeaseId>& writer = {});

  /// Returns the epoch of the newest writer; 0 before the first.
  std::uint64_t epoch() const;

 private:
  LeaseTable& leases_;
  const std::shared_ptr<const Publication> publication_;
  mutable std::mutex mutex_;
  std::optional<LeaseId> newest_writer_;  ///< whether or not its lease still runs
  std::uint64_t epoch_ = 0;
};

/// Holds the node's log once its memory has been taken. Thread-safe.
class LogSlot {
 public:
  /// Must be called at most once.
  void set(std::shared_ptr<LogStore> log) {
    const std::lock_guard lock(mutex_);
    log_ = std::move(log);
  }
  /// Returns null before that, and in a node without a log.
  std::shared_ptr<LogStore> get() const {
    const std::lock_guard lock(mutex_);
    return log_;
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<LogStore> log_;
};

}  // namespace farvec::memory_node
