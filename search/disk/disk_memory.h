// What searches of records on a disk keep in memory.
#pragma once

#include <cstddef>

#include "disk/disk_file.h"
#include "search/core/search_shape.h"
#include "search/index/search_index.h"
#include "ssd_baseline/slotted/search/slotted_store.h"

namespace farvec::search {

/// Bytes in DRAM, all cores together. None of them is the page cache's.
struct DiskMemory {
  std::size_t codes = 0;     ///< or centroids
  std::size_t location = 0;  ///< offsets of records, or the table of clusters
  std::size_t buffers = 0;   ///< that records are read into and copied from
  std::size_t searches = 0;  ///< stacks, candidate lists, what is wanted of clusters
  std::size_t caches = 0;    ///< of records, or the pool

  std::size_t total() const { return codes + location + buffers + searches + caches; }
};

/// The buffers that reads of the shape's cores go to, whatever tier they read by an endpoint; most
/// of what searches of clusters take. Not for slotted pages.
std::size_t lane_bytes(const SearchIndex& index, const SearchShape& shape);

/// Known before any of it is allocated: an upper bound of what cores over make_disk_endpoint()
/// take. Throws Error that names the least budget when they need more than that of the shape. Not
/// for slotted pages, whose plan is SlottedStore's.
DiskMemory plan_disk_memory(const SearchIndex& index, const disk::DiskFile& records,
                            const SearchShape& shape);

/// The same of slotted pages, whose pool counts as a cache, and the graph of entries as codes.
DiskMemory disk_memory(const slotted::MemoryPlan& plan);

}  // namespace farvec::search
