// An IndexBuild makes one segment of all rows of a new index.
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

/// Rows wait in it until the process that builds has sent the last one. Any thread may call
/// everything.
class IndexBuild {
 public:
  /// Borrows the collection. Takes rows of at most `most_bytes` together.
  IndexBuild(collection::Collection& collection, std::size_t most_bytes);
  /// Gives the segment up, and waits for its thread.
  ~IndexBuild();
  IndexBuild(const IndexBuild&) = delete;
  IndexBuild& operator=(const IndexBuild&) = delete;

  /// Copies rows that the collection has checked. Returns false where they have no room: then they
  /// go into the collection, as all later ones do.
  bool take(const changes::RowBatch& rows);

  /// Begins to make the segment, if it was not begun, and waits for it until then. Returns how far
  /// it is. Throws what import() throws. When no call has come for a minute, it gives up.
  ToldBuild advance(Ticks until);

  /// Returns the bytes of rows that wait.
  std::size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  void run();
  bool gives_up() const;

  collection::Collection& collection_;
  const std::size_t most_bytes_;
  std::atomic<std::size_t> bytes_{0};
  std::atomic<bool> stopping_{false};  ///< relaxed: a flag that orders nothing
  std::atomic<Ticks> asked_at_{0};     ///< relaxed

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool full_ = false;
  bool finished_ = false;
  std::exception_ptr failure_;
  std::vector<std::byte> vectors_;
  std::vector<std::uint64_t> vids_;
  layout::Tuples tuples_;
  std::thread thread_;
};

}  // namespace farvec::postgres
