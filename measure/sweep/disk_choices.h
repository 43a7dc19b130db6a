// The ways to search a disk that a command line names.
#pragma once

#include <vector>

#include "layout/index/manifest.h"
#include "search/core/disk_options.h"

namespace farvec::measure {

/// All combinations; of an index that is not in slotted pages the budgets alone. Throws Error for
/// anything that is not understood.
std::vector<search::DiskChoice> disk_choices(const search::DiskArguments& arguments,
                                             const layout::Manifest& manifest);

/// The only one. Throws Error when the arguments are lists.
search::DiskChoice one_disk_choice(const search::DiskArguments& arguments,
                                   const layout::Manifest& manifest);

}  // namespace farvec::measure
