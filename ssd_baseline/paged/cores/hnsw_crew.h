// An HnswCrew runs many inserts, deletes and reads of an HNSW graph on pages, in fibers of cores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/progress.h"
#include "base/types.h"
#include "ssd_baseline/paged/change/hnsw_vacuum.h"
#include "ssd_baseline/paged/cores/change_hands.h"
#include "ssd_baseline/paged/cores/counted_work.h"
#include "ssd_baseline/paged/cores/shared_work.h"
#include "ssd_baseline/paged/graph/hnsw_search_types.h"
#include "ssd_baseline/paged/graph/paged_hnsw.h"

namespace farvec::paged {

struct HnswCrewOptions {
  HnswReadOptions reads;
  std::uint32_t threads = 1;  ///< at least 1
  std::uint32_t slots = 1;    ///< operations in flight on each thread; at least 1
  double deadline_us = 60e6;  ///< for each operation
  /// No operation begins after this.
  Ticks until = std::numeric_limits<Ticks>::max();
  /// Whether every insert and delete waits until it is as durable as the log's options say before
  /// its slot takes the next one; else all are made durable at the end of the call.
  bool acknowledge_each = true;
  IfThere if_there = IfThere::refuse;  ///< for inserts
  /// Is asked between operations, from any thread; when it returns true, no further one begins.
  Interruption interrupted = {};
  /// Is told, from any thread, how many more operations have ended.
  std::function<void(std::uint64_t)> advanced = {};
  /// The queue of cores that run already, which then do all work; `threads`, `slots` and `reads`
  /// are theirs. Null: each call has cores of its own, which end with it.
  std::shared_ptr<WorkQueue> served = nullptr;
};

/// Says what a call did.
struct HnswWork : ChangeCounts {
  std::uint64_t done = 0;  ///< operations; fewer than were asked for when it was interrupted
  double seconds = 0;
  double write_back_seconds = 0;  ///< PagedHnsw::write_back() after it, where it was called
};

/// Says what a vacuum did.
struct HnswVacuumWork {
  HnswVacuumCounts vacuum;
  HnswCounts counts;
  double seconds = 0;
};

/// Says what is inserted.
struct HnswInserts {
  VectorView rows;                 ///< in the stored type
  std::span<const NodeId> chosen;  ///< rows in the order in which their inserts begin
  std::span<const NodeId> ids;     ///< an id for each chosen row; empty: the row's number
};

/// Takes what get() reads.
struct HnswRows {
  std::vector<std::uint8_t> found;  ///< for every id that was asked for: 1 when it is there
  std::vector<std::byte> rows;  ///< a vector for every id; without meaning where it is not there
};

/// Runs operations on a graph that it borrows. Every call blocks until its operations have ended,
/// and throws StatusError with the first that fails and its row; those before it are done. Inserts
/// place vertices by the partitions of the graph if it has a map of them. One call at a time.
class HnswCrew {
 public:
  HnswCrew(PagedHnsw& hnsw, HnswCrewOptions options);

  HnswWork insert(const HnswInserts& inserts);
  /// Marks the vertices with these ids. Ids that are not there are counted in `missing`; without it
  /// they are an error.
  HnswWork erase(std::span<const NodeId> ids, std::uint64_t* missing = nullptr);
  /// Reads vectors by their ids. `read` must have room for every id. Marked vertices are not there.
  HnswWork get(std::span<const NodeId> ids, HnswRows& read);
  /// Runs rounds of a vacuum until no vertex is marked, or until it is interrupted, in one fiber.
  HnswVacuumWork vacuum();

 private:
  HnswWork run(std::size_t count, CountedWork::Operation operation);
  void run_on_own_cores(const std::shared_ptr<CountedWork>& work) const;
  void wait_for_served(CountedWork& work) const;
  /// Returns whether no further operation is to begin.
  bool is_over() const;
  Ticks deadline() const;
  Status acknowledge(ChangeHands& hands, const Result<wal::Position>& change) const;
  void flush();

  PagedHnsw& hnsw_;
  const HnswCrewOptions options_;
};

}  // namespace farvec::paged
