// A SlottedDisk has the slotted pages of an index on a disk of this machine, and the pool that all
// its cores share.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "disk/disk_engine.h"
#include "layout/index/index_directory.h"
#include "search/core/core_part.h"
#include "ssd_baseline/slotted/search/slotted_store.h"

namespace farvec::search {

struct SlottedDiskOptions {
  std::string path;  ///< see open_disk_records() and open_disk_vectors()
  disk::PageCache cache = disk::PageCache::bypassed;
  slotted::SlottedSearchOptions searches;
  layout::LoadOptions load;  ///< how the page map is loaded
};

class SlottedDisk {
 public:
  /// The index must outlive it and its parts. Throws Error when the files do not belong to this
  /// index, and when the budget is too small; then nothing has been loaded yet.
  SlottedDisk(const layout::IndexDirectory& directory, const slotted::SlottedIndex& index,
              const SlottedDiskOptions& options);

  /// Makes one of options.searches.cores parts, with the number of slots that the options say. When
  /// the thread that is going to run it is `owner`, call it on that thread. It may outlive this
  /// object.
  std::unique_ptr<CorePart> make_part(const disk::DiskUse& use,
                                      coroutines::Scheduler& scheduler) const;
  std::uint32_t slots() const { return store_->options().slots; }
  const slotted::MemoryPlan& memory() const { return store_->memory(); }

 private:
  disk::DiskFiles files_;
  std::shared_ptr<slotted::SlottedStore> store_;
};

}  // namespace farvec::search
