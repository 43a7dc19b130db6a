// What searches of records on a disk keep in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "disk/disk_file.h"
#include "search/search_index.h"

namespace farvec::search {

struct DiskSearches {
  std::uint32_t cores = 1;
  std::uint32_t slots = 16;     ///< searches in flight on each core
  std::size_t cache_bytes = 0;  ///< of the record cache of each core
  std::uint32_t list = 64;      ///< largest, of a graph
  std::uint32_t width = 1;      ///< largest, of a graph
  std::uint32_t probe = 16;     ///< largest, of clusters
};

/// Bytes in DRAM, all cores together. None of them is the page cache's.
struct DiskMemory {
  std::size_t codes = 0;     ///< or centroids
  std::size_t location = 0;  ///< offsets of records, or the table of clusters
  std::size_t buffers = 0;   ///< that records are read into and copied from
  std::size_t searches = 0;  ///< stacks, candidate lists, what is wanted of clusters
  std::size_t caches = 0;

  std::size_t total() const { return codes + location + buffers + searches + caches; }
};

/// Known before any of it is allocated: an upper bound of what cores over make_disk_endpoint()
/// take. Throws Error that names the least budget when they need more than `budget`. Not for
/// slotted pages, whose plan is SlottedStore's.
DiskMemory plan_disk_memory(const SearchIndex& index, const disk::DiskFile& records,
                            const DiskSearches& searches, std::optional<std::size_t> budget);

}  // namespace farvec::search
