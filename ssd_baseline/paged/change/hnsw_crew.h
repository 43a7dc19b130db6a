// Many searches, inserts and deletes of an HNSW graph on pages, on threads with fibers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/types.h"
#include "ssd_baseline/paged/change/hnsw_vacuum.h"
#include "ssd_baseline/paged/change/hnsw_writer.h"
#include "ssd_baseline/paged/change/partition_placement.h"
#include "ssd_baseline/paged/change/vertex_getter.h"
#include "ssd_baseline/paged/graph/hnsw_search_types.h"
#include "ssd_baseline/paged/graph/paged_hnsw.h"

namespace farvec::paged {

struct HnswCrewOptions {
  HnswReadOptions reads;
  std::uint32_t threads = 1;  ///< at least 1
  std::uint32_t slots = 1;    ///< operations in flight on each thread; at least 1
  double deadline_us = 60e6;  ///< of an operation
  /// Every insert and delete waits until the log holds it before its slot takes the next one, as
  /// the durability of the log has it; else all are made durable at the end of the call.
  bool acknowledge_each = true;
  /// Asked between operations; when it says so, no further one begins.
  std::function<bool()> interrupted = [] { return false; };
  /// Told of so many operations that have ended, from any thread.
  std::function<void(std::uint64_t)> advanced = [](std::uint64_t) {};
};

/// What a call did.
struct HnswWork {
  std::uint64_t done = 0;  ///< operations; fewer than were asked for when it was interrupted
  double seconds = 0;
  double write_back_seconds = 0;  ///< of PagedHnsw::write_back() behind them, where it was called
  HnswCounts counts;
  HnswWriteCounts written;             ///< of inserts and deletes
  PartitionPlacementCounts placement;  ///< of inserts
};

/// What a vacuum did.
struct HnswVacuumWork {
  HnswVacuumCounts vacuum;
  HnswCounts counts;
  double seconds = 0;
};

/// What goes in.
struct HnswInserts {
  VectorView rows;                 ///< of the stored type
  std::span<const NodeId> chosen;  ///< rows in the order in which they are begun
  std::span<const NodeId> ids;     ///< of the chosen rows; empty: their numbers
};

/// Results of searches, rows of `k`: ids and distances, kInvalidNode and infinity where fewer were
/// found.
struct HnswAnswers {
  std::uint32_t k = 10;
  std::uint32_t list = 40;  ///< ef; at least k
  std::span<NodeId> ids;
  std::span<float> distances;
  std::vector<float> latency_us;  ///< of every search that was done, in any order
};

/// What get() has read.
struct HnswRows {
  std::vector<std::uint8_t> found;  ///< for every id that was asked for: 1 when it is there
  std::vector<std::byte> rows;      ///< the vector of every id; nothing where it is not there
};

/// Borrows the graph. Every call blocks until its threads are through, and throws Error with the
/// first operation that fails and its row; those before it are done. Inserts go by the partitions
/// of the graph if it has a map of them. One call at a time.
class HnswCrew {
 public:
  HnswCrew(PagedHnsw& hnsw, HnswCrewOptions options);

  HnswWork insert(const HnswInserts& inserts);
  /// Marks them; those that are not there are counted by `missing`, or an error without it.
  HnswWork erase(std::span<const NodeId> ids, std::uint64_t* missing = nullptr);
  /// `read` has room for every id. Marked vertices are not there.
  HnswWork get(std::span<const NodeId> ids, HnswRows& read);
  /// Queries in the stored type; row i of the answers is query i's.
  HnswWork search(const VectorView& queries, HnswAnswers& answers);
  /// Rounds until none is marked. One fiber of one thread.
  HnswVacuumWork vacuum();

 private:
  struct Hands;
  template <typename Operation>
  HnswWork run(std::size_t count, Operation operation);
  void flush();

  PagedHnsw& hnsw_;
  const HnswCrewOptions options_;
};

}  // namespace farvec::paged
