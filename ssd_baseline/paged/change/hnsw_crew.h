// An HnswCrew runs many searches, inserts and deletes of an HNSW graph on pages, on threads with
// fibers.
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
  double deadline_us = 60e6;  ///< for each operation
  /// Whether every insert and delete waits until it is as durable as the log's options say before
  /// its slot takes the next one; else all are made durable at the end of the call.
  bool acknowledge_each = true;
  /// Is asked between operations; when it returns true, no further one begins.
  std::function<bool()> interrupted = [] { return false; };
  /// Is told, from any thread, how many more operations have ended.
  std::function<void(std::uint64_t)> advanced = [](std::uint64_t) {};
};

/// Says what a call did.
struct HnswWork {
  std::uint64_t done = 0;  ///< operations; fewer than were asked for when it was interrupted
  double seconds = 0;
  double write_back_seconds = 0;  ///< PagedHnsw::write_back() after it, where it was called
  HnswCounts counts;
  HnswWriteCounts written;             ///< counts of inserts and deletes
  PartitionPlacementCounts placement;  ///< counts of inserts
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

/// Takes the results of searches: a row of `k` ids and distances for each query, kInvalidNode and
/// infinity where fewer were found.
struct HnswAnswers {
  std::uint32_t k = 10;
  std::uint32_t list = 40;  ///< ef; at least k
  std::span<NodeId> ids;
  std::span<float> distances;
  std::vector<float> latency_us;  ///< one for each search that was done, in any order
};

/// Takes what get() reads.
struct HnswRows {
  std::vector<std::uint8_t> found;  ///< for every id that was asked for: 1 when it is there
  std::vector<std::byte> rows;  ///< a vector for every id; without meaning where it is not there
};

/// Runs operations on a graph that it borrows. Every call blocks until its threads have ended, and
/// throws Error with the first operation that fails and its row; those before it are done. Inserts
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
  /// Searches for queries in the stored type; row i of the answers is query i's.
  HnswWork search(const VectorView& queries, HnswAnswers& answers);
  /// Runs rounds of a vacuum until no vertex is marked, or until it is interrupted, on one fiber of
  /// one thread.
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
