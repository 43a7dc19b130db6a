// An HnswVacuum removes marked vertices from an HNSW graph on pages, in bounded steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/clock.h"
#include "base/status.h"
#include "ssd_baseline/paged/graph/hnsw_search_types.h"
#include "ssd_baseline/paged/graph/paged_hnsw.h"

namespace farvec::paged {

struct HnswVacuumOptions {
  HnswReadOptions reads;
  /// The most marked vertices that one round removes, for 8 bytes of DRAM each; the rest are left
  /// to the next round.
  std::size_t round_vertices = 1u << 20;
};

struct HnswVacuumCounts {
  std::uint64_t pages_scanned = 0;
  std::uint64_t repaired = 0;     ///< vertices whose lists were chosen again
  std::uint64_t edges_back = 0;   ///< lists of others that took one of these as a neighbour
  std::uint64_t relinked = 0;     ///< vertices that no edge led to, and that searches find again
  std::uint64_t removed = 0;      ///< marked vertices whose places are free now
  std::uint64_t pages_freed = 0;  ///< put on the list of pages with free space
  std::uint64_t insert_pages_taken = 0;  ///< partitions that have no insert page any more
  std::uint64_t retries = 0;
};

/// Works in rounds. A round collects marked vertices; gives every vertex that points to one of them
/// a list that was searched and selected again; moves the entry if it is a marked one; then erases
/// the marked ones. A round that finds none marked sees to the lost vertices, to which no edge
/// leads any more: it gives each an edge from a neighbour, and is the last. Then insert pages are
/// taken back from partitions that receive nothing (InsertPageSweep). Searches, inserts and deletes
/// go on meanwhile. One vacuum works at a time: a second one gets resource_exhausted until the
/// first has ended, or is destroyed. A kill between steps costs the work of the round, nothing
/// else.
class HnswVacuum {
 public:
  /// Both must outlive it. Fibers of the fetcher's scheduler use it, one call at a time.
  HnswVacuum(PagedHnsw& hnsw, PageFetcher& fetcher, const HnswVacuumOptions& options = {});
  ~HnswVacuum();

  /// Looks at one page, with an update for each of its vertices that needs one. It is called from
  /// inside a fiber. Returns false when a round found no marked vertex, and it and the sweep of
  /// insert pages have ended: then all is done. After an error another step() may go on with the
  /// round.
  Result<bool> step(Ticks deadline);

  /// Returns the position in the log after the last update; see HnswWriter::insert().
  wal::Position position() const;
  const HnswVacuumCounts& done() const;
  HnswCounts& counts();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace farvec::paged
