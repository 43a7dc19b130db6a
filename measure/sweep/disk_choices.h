// Reads from a command line the ways to search a disk.
#pragma once

#include <vector>

#include "layout/index/manifest.h"
#include "search/core/disk_options.h"

namespace farvec::measure {

/// Returns all combinations; for an index that is not in slotted pages only the budgets vary.
/// Throws Error for anything that is not understood.
std::vector<search::DiskChoice> disk_choices(const search::DiskArguments& arguments,
                                             const layout::Manifest& manifest);

/// Returns the only combination. Throws Error when the arguments are lists.
search::DiskChoice one_disk_choice(const search::DiskArguments& arguments,
                                   const layout::Manifest& manifest);

}  // namespace farvec::measure
