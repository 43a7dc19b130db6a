// Plans the memory that searches of records on a disk keep.
#pragma once

#include <cstddef>

#include "disk/disk_file.h"
#include "search/core/search_shape.h"
#include "search/index/search_index.h"
#include "ssd_baseline/slotted/search/slotted_store.h"

namespace farvec::search {

/// Counts bytes in DRAM, for all cores together. The page cache is not included.
struct DiskMemory {
  std::size_t codes = 0;     ///< codes or centroids
  std::size_t location = 0;  ///< offsets of records, or the table of clusters
  std::size_t buffers = 0;   ///< buffers that records are read into and copied from
  std::size_t searches = 0;  ///< stacks, candidate lists, what searches remember of clusters
  std::size_t caches = 0;    ///< record caches, or the pool
  std::size_t second = 0;    ///< what ranking by a second copy of the vectors takes

  std::size_t total() const { return codes + location + buffers + searches + caches + second; }
};

/// Returns the bytes of the buffers for the reads of the shape's cores, on any tier that is read
/// through an endpoint. They are most of what searches of clusters take. Not for slotted pages.
std::size_t lane_bytes(const SearchIndex& index, const SearchShape& shape);

/// Returns an upper bound of what cores over make_disk_endpoint() take, known before any of it is
/// allocated. Throws Error that names the least budget when they need more than the shape's budget.
/// Not for slotted pages, whose plan SlottedStore makes.
DiskMemory plan_disk_memory(const SearchIndex& index, const disk::DiskFile& records,
                            const SearchShape& shape);

/// Returns the memory of slotted pages; the pool counts as a cache, the graph of entries as codes.
DiskMemory disk_memory(const slotted::MemoryPlan& plan);

}  // namespace farvec::search
