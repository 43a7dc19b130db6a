// Makes the parts and cores that search slotted pages on a disk of this machine.
#pragma once

#include <memory>

#include "disk/disk_engine.h"
#include "search/core/core_part.h"
#include "search/core/search_core.h"
#include "ssd_baseline/slotted/search/slotted_store.h"

namespace farvec::search {

/// Returns a part over the store's pool, which it shares with the store's other parts. A task ends
/// with invalid_argument when its list or width is larger than the store was planned for, or when
/// results are ranked again and their number is below its k or above its list. The engine's file 0
/// holds the index's pages, file 1 its vectors when results are ranked again. Throws Error.
std::unique_ptr<CorePart> make_slotted_part(std::shared_ptr<slotted::SlottedStore> store,
                                            std::unique_ptr<disk::DiskEngine> engine,
                                            coroutines::Scheduler& scheduler);

/// Returns a SearchCore around such a part.
std::unique_ptr<SearchCore> make_slotted_core(std::shared_ptr<slotted::SlottedStore> store,
                                              std::unique_ptr<disk::DiskEngine> engine);

}  // namespace farvec::search
