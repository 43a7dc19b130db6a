// Takes marked vertices off an HNSW graph on pages, in bounded steps.
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
  /// Marked vertices that one round takes, 8 bytes of DRAM each; the rest is the next round's.
  std::size_t round_vertices = 1u << 20;
};

struct HnswVacuumCounts {
  std::uint64_t pages_scanned = 0;
  std::uint64_t repaired = 0;     ///< vertices whose lists were chosen again
  std::uint64_t edges_back = 0;   ///< lists that took one of them as the neighbour that they chose
  std::uint64_t removed = 0;      ///< marked vertices whose places are free now
  std::uint64_t pages_freed = 0;  ///< put on the list of pages with free space
  std::uint64_t retries = 0;
};

/// A round: collects marked vertices; gives every vertex that points to one of them a list that was
/// searched and selected again; moves the entry if it is one; then erases them. Searches, inserts
/// and deletes go on meanwhile; one vacuum at a time (resource_exhausted for a
/// second one until the first has ended, or is destroyed). A kill
/// between steps costs the work of the round, nothing else.
class HnswVacuum {
 public:
  /// Both must outlive it; for fibers of the fetcher's scheduler, one call at a time.
  HnswVacuum(PagedHnsw& hnsw, PageFetcher& fetcher, const HnswVacuumOptions& options = {});
  ~HnswVacuum();

  /// From inside a fiber: looks at one page, with an update for each of its vertices that need one.
  /// False when a round has begun that found no marked vertex: all is done. With an error the round
  /// may be gone on with by another step().
  Result<bool> step(Ticks deadline);

  /// Behind the last update; see HnswWriter::insert().
  wal::Position position() const;
  const HnswVacuumCounts& done() const;
  HnswCounts& counts();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace farvec::paged
