// Options of HNSW graphs on pages that several commands share.
#pragma once

#include "base/command_line.h"
#include "measure/sweep/pages/page_access.h"

namespace farvec::cli {

using measure::PageAccess;

/// --search, --min-complete, --slots, --threads of what works on a graph.
void add_crew_options(Command& command, PageAccess& access);
/// --buffer and --durability.
void add_store_options(Command& command, PageAccess& access);

/// Of work that ends early when the program is interrupted().
paged::HnswCrewOptions crew_options(const PageAccess& access);

}  // namespace farvec::cli
