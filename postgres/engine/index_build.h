// An IndexBuild makes segments of all rows of a new index: one where all have room at a time.
#pragma once

#include "base/clock.h"
#include "changes/row_batch.h"
#include "collection/write/collection.h"
#include "layout/attributes/tuple.h"
#include "postgres/channel/requests.h"
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace farvec::postgres {

/// Rows wait in it until the last one has come, or they have no more room: then those that wait
/// become a segment, and the next ones have to come again. Any thread may call everything.
class IndexBuild {
 public:
  /// Borrows the collection. Rows of `most_bytes` together wait at most, or those of one call.
  IndexBuild(collection::Collection& collection, std::size_t most_bytes);
  /// Gives a segment that is under way up, and waits for its thread.
  ~IndexBuild();
  IndexBuild(const IndexBuild&) = delete;
  IndexBuild& operator=(const IndexBuild&) = delete;

  /// Copies rows that the collection has checked. Returns false where they have no room now: then a
  /// segment is under way, for which wait_for_room() waits. Throws what import() threw.
  bool take(const changes::RowBatch& rows);

  /// Waits until no segment is under way, and not longer than until then. Returns how far it is.
  /// Throws what import() throws. When no call has come for a minute, it gives up.
  ToldBuild wait_for_room(Ticks until);
  /// Does the same after it has begun to make a segment of the rows that wait, which are the last.
  ToldBuild advance(Ticks until);

  /// Returns the bytes of rows that wait.
  std::size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  void begin();
  void run();
  bool gives_up() const;
  ToldBuild told() const;

  collection::Collection& collection_;
  const std::size_t most_bytes_;
  std::atomic<std::size_t> bytes_{0};
  std::atomic<bool> stopping_{false};  ///< relaxed: a flag that orders nothing
  std::atomic<Ticks> asked_at_{0};     ///< relaxed

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool running_ = false;    ///< the thread makes a segment of the rows, which do not change then
  std::uint64_t done_ = 0;  ///< rows of segments that were made
  std::exception_ptr failure_;
  std::vector<std::byte> vectors_;
  std::vector<std::uint64_t> vids_;
  layout::Tuples tuples_;
  std::thread thread_;
};

}  // namespace farvec::postgres
