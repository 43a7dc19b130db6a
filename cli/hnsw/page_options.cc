#include "cli/hnsw/page_options.h"

#include "cli/interrupt.h"
#include "wal/durability_option.h"

namespace farvec::cli {

void add_crew_options(Command& command, PageAccess& access) {
  command
      .add_option("--search", access.search,
                  "How the pages of a vertex's neighbours are read: sync (one after the other),\n"
                  "parallel (all at once, then scored), pipelined (scored as they come)")
      .show_default();
  command
      .add_option("--min-complete", access.min_complete,
                  "pipelined: pages that have to come before a waiting search goes on")
      .positive()
      .show_default();
  command.add_option("--slots", access.slots, "Operations in flight on each thread")
      .range(1u, 1024u)
      .show_default();
  command.add_option("--threads", access.threads, "Threads").range(1u, 1024u).show_default();
}

void add_store_options(Command& command, PageAccess& access) {
  command.add_option("--buffer", access.buffer,
                     "Bytes of pages kept in memory, as a share of the graph's pages or as a size\n"
                     "(512MiB) [25%, and room for the changes in flight]");
  command.add_option("--durability", access.durability, wal::durability_help("the command ends"))
      .show_default();
}

paged::HnswCrewOptions crew_options(const PageAccess& access) {
  return measure::crew_options(access, interrupted);
}

}  // namespace farvec::cli
