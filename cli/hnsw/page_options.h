// Declares options of HNSW graphs on pages that several commands share.
#pragma once

#include "base/command_line.h"
#include "measure/sweep/pages/page_access.h"

namespace farvec::cli {

using measure::PageAccess;

/// Adds --search, --min-complete, --slots and --threads of a command that works on a graph.
void add_crew_options(Command& command, PageAccess& access);
/// Adds --buffer and --durability.
void add_store_options(Command& command, PageAccess& access);

/// Returns options of work that ends early when the program is interrupted().
paged::HnswCrewOptions crew_options(const PageAccess& access);

}  // namespace farvec::cli
