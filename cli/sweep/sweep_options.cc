#include "cli/sweep/sweep_options.h"

#include "search/core/disk_options.h"
#include "tiers/tier_spec.h"

namespace farvec::cli {
namespace {

void add_search_options(Command& command, SweepArguments& a) {
  command.add_option("--index", a.index, "Index directory").required();
  command.add_option("--queries", a.queries, "Vector file").required();
  command.add_option("--groundtruth", a.groundtruth, "True neighbours (.ibin, .ivecs)").required();
  command.add_option("--filter", a.filter,
                     "Condition that results meet, of an index that has attributes; the true\n"
                     "neighbours are those among the rows that meet it (`farvec search --exact "
                     "--filter\nCONDITION --out` finds them)");
  command.add_option("--k", a.k, "Neighbours wanted").show_default();
  command
      .add_option("--list", a.lists,
                  "L, comma-separated: candidates kept; of coded clusters, vectors that are read")
      .show_default();
  command.add_option("--width", a.widths, "W, records fetched per hop").show_default();
}

void add_cluster_options(Command& command, SweepArguments& a) {
  command.add_option("--probe", a.probes, "Cluster indexes only: most clusters to search")
      .show_default();
  command
      .add_option(
          "--prune-ratio", a.prune_ratio,
          "Cluster indexes only: leave out a cluster whose centroid is more than this many\n"
          "times as far away as the nearest one [keep all]")
      .range(1.0, 1e6);
  command
      .add_option(
          "--dedup", a.dedup,
          "Cluster indexes only. on: a query reads no vector twice; off: it reads all that\n"
          "its clusters name. on,off measures both")
      .show_default();
  command
      .add_option("--merge-gap", a.merge_gap,
                  "Cluster indexes only: vectors that lie apart with at most this many bytes\n"
                  "(4096, 4KiB) between them share a read [what a request costs on the tier]")
      .size();
}

void add_page_options(Command& command, SweepArguments& a) {
  command
      .add_option(
          "--buffer", a.buffers,
          "HNSW graphs on pages only: pages kept in memory, as shares of all (10%) or sizes")
      .show_default();
  command
      .add_option("--min-complete", a.min_complete,
                  "HNSW graphs on pages only: pages that have to come before a pipelined search\n"
                  "goes on")
      .positive()
      .show_default();
}

void add_machine_options(Command& command, SweepArguments& a) {
  command
      .add_option("--slots", a.slots,
                  "Searches in flight per core; 1 is synchronous. auto: 16, and for slotted pages\n"
                  "what the disk's rate wants, measured at the start")
      .show_default();
  command.add_option("--threads", a.threads, "Cores").show_default();
  command.add_option("--tier", a.tiers, tiers::tier_help(tiers::TierUse::search)).show_default();
  command.add_option("--second-tier", a.second_tier,
                     "Where the second copy of an index with fewer bits than its data is read\n"
                     "from [the row's tier]");
  command
      .add_option("--cache-bytes", a.cache_bytes,
                  "Record cache over all cores of a combination, like 64MB (1000s) or 64MiB\n"
                  "(1024s); 0: none. Tiers that load in place have none")
      .show_default();
}

void add_measurement_options(Command& command, SweepArguments& a) {
  command.add_option("--queries-range", a.range, "A:B, rows of the query file [all]");
  command.add_option("--passes", a.passes, "Times every combination is measured, in turn")
      .show_default();
  command
      .add_option("--pass-ms", a.pass_ms,
                  "Length of a pass, which searches the queries in turn, over and over or as far\n"
                  "as it comes")
      .show_default();
  command
      .add_option("--line-ns", a.line_ns,
                  "Graph indexes: nanoseconds that a core takes for a random cache line, for the\n"
                  "bound, as `farvec bench memory` says it [measured at the start]")
      .range(0.01, 1e6);
  const Option json = command.add_option(
      "--json", a.json,
      "File for one JSON object per combination and line, written when it is measured");
  command.add_option(
      "--html", a.html,
      "File for a page with figures and a table of all rows, for a browser, written\n"
      "at the end; `farvec report` makes one of several files of --json");
  Option resume =
      command.add_flag("--resume", a.resume,
                       "Add to the file of --json the combinations that it has not (of the same\n"
                       "index, queries, parameters and passes)");
  Option overwrite =
      command.add_flag("--overwrite", a.overwrite, "Replace a file that is already there");
  resume.needs(json).excludes(overwrite);
  overwrite.needs(json);
}

}  // namespace

void add_sweep_options(Command& command, SweepArguments& a) {
  add_search_options(command, a);
  add_cluster_options(command, a);
  add_page_options(command, a);
  add_machine_options(command, a);
  search::add_disk_options(command, a.disk, true);
  add_measurement_options(command, a);
  rpc::add_tls_flags(command, a.tls);
  command.footer(
      "First every query is searched once: recall and counts, which are exact, are of that. Then\n"
      "come the passes, on the tiers of a combination in turn; a row has the medians of its "
      "passes\n"
      "and the spread of the throughput, and is printed when they are done. For slotted pages "
      "every\n"
      "pass begins with an empty pool, which the queries outside of --queries-range fill, and "
      "with\n"
      "the first query of the range, and searches none twice; the first pass searches all of it.\n"
      "For graphs, lines are the cache lines of codes, offsets and records that a query asks for, "
      "and\n"
      "bound is the rate at which memory can bring those of them that lie in this machine's "
      "memory, when\n"
      "none is in a cache (a rate above it shows that caches help), or at which a modelled device\n"
      "can bring what it is asked for, if that is less. --json has both, and the lines of each "
      "kind.\n"
      "For HNSW graphs on pages --search is how pages are read, of sync (one after the other),\n"
      "parallel (all of a vertex's neighbours at once) and pipelined (scored as they come), which\n"
      "are measured in turn [all three]; --list is ef, --slots are the searches in flight on a "
      "thread, and\n"
      "every pass opens the graph anew, fills its buffer by the queries outside of\n"
      "--queries-range, and searches each query once.\n"
      "Where dram is one of the tiers, compute is its rate for the same combination in the same "
      "passes:\n"
      "what computation alone allows the other tiers; - of what dram does not measure (a record "
      "cache).\n"
      "A combination that cannot run has a row that says why; the status is 0 when any could.\n"
      "SIGINT ends it with status 130; --resume goes on.\n"
      "Example:\n"
      "  farvec sweep --index sift1m.index --queries query.u8bin --groundtruth gt100.ibin \\\n"
      "    --list 20,40,80 --slots 1,16 --tier dram,emulated:rdma --json sweep.json");
}

}  // namespace farvec::cli
