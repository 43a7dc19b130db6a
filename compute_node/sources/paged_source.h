// A PagedSource says which graph on pages is served, and how it is read and changed.
#pragma once

#include <cstdint>
#include <string>

#include "compute_node/collection/change_options.h"
#include "ssd_baseline/paged/graph/hnsw_search_types.h"

namespace farvec::compute_node {

struct PagedSource {
  std::string folder;
  std::string buffer;  ///< a share of the graph's pages, or a size; empty: see paged::HnswOpening
  std::string page_reads = "pipelined";
  std::uint32_t min_complete = paged::HnswReadOptions{}.min_complete;
  std::uint32_t change_slots = 8;     ///< changes in flight on each core
  std::string insert_order = "none";  ///< order in which the rows of a call are inserted
  std::string durability = "commit";  ///< a word that wal::parse_durability() takes
  ChangeOptions changes;
};

}  // namespace farvec::compute_node
