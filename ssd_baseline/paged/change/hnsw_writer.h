// An HnswWriter inserts into an HNSW graph on pages, and deletes from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/clock.h"
#include "base/status.h"
#include "ssd_baseline/paged/graph/hnsw_search_types.h"
#include "ssd_baseline/paged/graph/paged_hnsw.h"
#include "ssd_baseline/paged/placement/placement.h"

namespace farvec::paged {

struct HnswWriteCounts {
  std::uint64_t inserted = 0;
  std::uint64_t replaced = 0;  ///< those of the inserts that replaced a vertex
  std::uint64_t deleted = 0;
  std::uint64_t retries = 0;  ///< updates begun again: what they relied on had changed
  /// Edges that were given up: a neighbour was deleted meanwhile, or its list kept changing.
  std::uint64_t left_out = 0;
  std::uint64_t edges_back = 0;  ///< lists of others that took a new vertex
  std::uint64_t pages_added = 0;
};

/// Says what becomes of an insert whose id is in the graph.
enum class IfThere : std::uint8_t { refuse, replace };

struct HnswWriterOptions {
  HnswReadOptions reads;
  PlacementPolicy* placement = nullptr;  ///< must outlive the writer; null: FallbackPlacement
};

/// Changes a graph on pages. Each fiber slot of a core has one; many writers and searchers work on
/// a graph at once. Every insert and every delete is one PageStore::update(): after a kill it is
/// there whole or not at all.
class HnswWriter {
 public:
  /// Both must outlive it. Fibers of the fetcher's scheduler use it, one call at a time.
  HnswWriter(PagedHnsw& hnsw, PageFetcher& fetcher, const HnswWriterOptions& options = {});
  ~HnswWriter();

  /// Inserts a vertex, from inside a fiber. Answers with the position in the log that makes it
  /// durable: it is acknowledged when PageFetcher::wait_durable() (or log().wait()) of that
  /// position has returned, so that many inserts may share a sync; searches see it at once.
  /// With IfThere::replace the vertex that has the id is marked in the same update. `vector` is in
  /// the stored type. Errors: failed_precondition when the id is in the graph and is not to be
  /// replaced; invalid_argument for another length, for a float that is not finite, for a vector
  /// that is too long to be compared, and for kInvalidNode; resource_exhausted when the disk is
  /// full, when the buffer is too small for the pages that one insert changes, or when all
  /// neighbours that it chose were deleted or changed before it could have them, again and again:
  /// no vertex goes in to which no edge leads. After an error nothing has changed.
  Result<wal::Position> insert(NodeId id, std::span<const std::byte> vector, Ticks deadline,
                               IfThere if_there = IfThere::refuse);

  /// Marks the vertex: searches pass through it and do not return it, and its id is free for
  /// another insert; a vacuum removes it. Answers like insert(); not_found when the id is not
  /// there.
  Result<wal::Position> mark_deleted(NodeId id, Ticks deadline);

  /// Returns what inserts and deletes did since the caller cleared these counts.
  HnswWriteCounts& written();
  /// Returns what the searches of inserts have cost since the caller cleared these counts.
  HnswCounts& counts();
  std::size_t dram_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace farvec::paged
