// The slotted pages of an index on a disk of this machine, and the pool that all its cores share.
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
  std::string path;  ///< as open_disk_records() and open_disk_vectors() take it
  slotted::SlottedSearchOptions searches;
  layout::LoadOptions load;  ///< of the page map
};

class SlottedDisk {
 public:
  /// The index must outlive it and its parts. Throws Error when the files are not this index's, and
  /// when the budget is too small: before anything is loaded for it.
  SlottedDisk(const layout::IndexDirectory& directory, const slotted::SlottedIndex& index,
              const SlottedDiskOptions& options);

  /// One of options.searches.cores, of as many slots as the options say; on the thread that is
  /// going to run it when that is `owner`. It may outlive this.
  std::unique_ptr<CorePart> make_part(disk::DiskThread thread,
                                      coroutines::Scheduler& scheduler) const;
  std::uint32_t slots() const { return store_->options().slots; }
  const slotted::MemoryPlan& memory() const { return store_->memory(); }

 private:
  disk::DiskFiles files_;
  std::shared_ptr<slotted::SlottedStore> store_;
};

}  // namespace farvec::search
