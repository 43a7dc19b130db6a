#include "search/disk/slotted_disk.h"

#include "search/disk/disk_records.h"
#include "search/disk/slotted_core.h"

namespace farvec::search {

using slotted::SlottedStore;

SlottedDisk::SlottedDisk(const layout::IndexDirectory& directory,
                         const slotted::SlottedIndex& index, const SlottedDiskOptions& options) {
  (void)SlottedStore::plan(index, options.searches);
  files_.push_back(open_disk_records(directory, options.path, options.cache));
  if (options.searches.rerank > 0) {
    files_.push_back(open_disk_vectors(directory, options.path, options.cache));
  }
  store_ = std::make_shared<SlottedStore>(index, directory.load_page_map(options.load),
                                          options.searches);
}

std::unique_ptr<CorePart> SlottedDisk::make_part(const disk::DiskUse& use,
                                                 coroutines::Scheduler& scheduler) const {
  return make_slotted_part(
      store_, disk::open_disk(files_, SlottedStore::reads_per_core(store_->options()), use),
      scheduler);
}

}  // namespace farvec::search
