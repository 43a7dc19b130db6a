// check_hnsw() checks whether an HNSW graph on pages is consistent.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ssd_baseline/paged/graph/paged_hnsw.h"

namespace farvec::paged {

struct HnswCheckReport {
  static constexpr std::size_t kMostProblems = 20;

  std::uint64_t vertices = 0;  ///< not marked
  std::uint64_t marked = 0;
  std::uint64_t edges = 0;
  std::uint64_t edges_to_marked = 0;
  /// Vertices, besides the entry, to which no edge of the lowest layer leads: only a search that
  /// comes down at one of them finds it.
  std::uint64_t lost = 0;
  std::uint64_t id_map_entries = 0;
  std::uint64_t free_list_pages = 0;
  std::uint64_t insert_pages = 0;     ///< partitions that have one
  std::vector<std::uint64_t> layers;  ///< vertices on each layer, marked ones too
  std::uint64_t problem_count = 0;
  std::vector<std::string> problems;  ///< the first kMostProblems, for people

  bool ok() const { return problem_count == 0; }
};

/// Reads every page and checks that:
/// - checksums and tuples are sound,
/// - every edge leads to another vertex that is on the edge's layer,
/// - no list names a vertex twice,
/// - ids of vertices that are not marked are unique,
/// - the id map leads to each of them and nowhere else,
/// - the list of pages with free space is one list,
/// - the insert page of every partition is one of the partition,
/// - entry and counts are right.
/// Takes 16 bytes of DRAM per vertex. The graph must not change meanwhile. It blocks the thread,
/// and must not be called inside a fiber. Throws Error when a page cannot be read for another
/// reason than its bytes. Unless `quiet`, it shows its progress in pages, each of which is read
/// twice.
HnswCheckReport check_hnsw(PagedHnsw& hnsw, bool quiet = true);

}  // namespace farvec::paged
