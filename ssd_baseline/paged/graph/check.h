// Looks whether an HNSW graph on pages holds together.
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
  std::uint64_t id_map_entries = 0;
  std::uint64_t free_list_pages = 0;
  std::vector<std::uint64_t> layers;  ///< vertices on each, marked ones too
  std::uint64_t problem_count = 0;
  std::vector<std::string> problems;  ///< the first kMostProblems, for people

  bool ok() const { return problem_count == 0; }
};

/// Reads every page: checksums and tuples are sound, every edge leads to another vertex that lies
/// on the edge's layer, no list names a vertex twice, ids of vertices that are not marked are
/// unique and the id map leads to each of them and nowhere else, the list of pages with free space
/// is one, entry and counts are right. Takes 16 bytes of DRAM per vertex. Nobody else may change
/// the graph meanwhile. Blocks the thread; not from inside a fiber. Throws Error when a page cannot
/// be read for another reason than its bytes.
/// Shows progress by pages, each of which is looked at twice, unless `quiet`.
HnswCheckReport check_hnsw(PagedHnsw& hnsw, bool quiet = true);

}  // namespace farvec::paged
