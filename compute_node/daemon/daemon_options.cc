#include "compute_node/daemon/daemon_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/command_line.h"
#include "base/option_rules.h"
#include "base/version.h"
#include "compute_node/sources/source_arguments.h"
#include "graph/beam_search.h"
#include "rpc/tls_flags.h"

namespace farvec::compute_node {
namespace {

constexpr const char* kDescription =
    "farvec-compute-node: answers vector searches over an index in a memory node's memory.\n"
    "Codes and offsets are held in this process; records are read when a search needs them.";

constexpr const char* kExample =
    "Example: search the index that a memory node on this machine holds, 32 at a time\n"
    "  farvec-memory-node --index /srv/sift1m --listen 127.0.0.1:7700 &\n"
    "  farvec-compute-node --memory-node 127.0.0.1:7700 --listen 127.0.0.1:7711 --slots 32 &\n"
    "  farvec search --connect 127.0.0.1:7711 --queries queries.fbin --k 10 --list 100 "
    "--out found.ibin\n"
    "Without a memory node, the whole index in this process:\n"
    "  farvec-compute-node --index /srv/sift1m --listen unix:/run/farvec.sock\n"
    "Slotted pages on a disk of this machine, in a fifth of their size of memory:\n"
    "  farvec-compute-node --index /srv/sift1m.slotted --tier ssd --memory-budget 20%\n"
    "A collection, which is searched and changed through this process:\n"
    "  farvec-compute-node --collection /srv/set --listen 127.0.0.1:7711\n"
    "The same collection beside the process that changes it, for searches alone:\n"
    "  farvec-compute-node --collection /srv/set --follow --listen 127.0.0.1:7712\n"
    "And on a machine that does not see its folder, from the memory nodes that have all of it:\n"
    "  farvec-compute-node --collection nodes:set --follow --log-nodes m0:7700,m1:7700,m2:7700 \\\n"
    "    --log-tier verbs --segment-nodes m0:7700,m1:7700,m2:7700 --segment-tier verbs\n"
    "An HNSW graph on pages of a disk, which is searched and changed through this process:\n"
    "  farvec-compute-node --paged /srv/set.hnsw --buffer 25% --listen 127.0.0.1:7711\n"
    "SIGTERM refuses new queries, finishes what runs, and ends with status 0.";

void add_core_flags(Command& app, DaemonOptions& options) {
  app.add_option("--threads", options.threads, "Cores that search").range(1, 1024).show_default();
  app.add_option("--slots", options.slots, "Searches in flight on each core; 1 is synchronous")
      .range(1, 1024)
      .show_default();
  app.add_flag("--pin", options.pin, "Pin each core's thread to one processor");
}

void add_service_flags(Command& app, DaemonOptions& options) {
  app.add_option<double>(
         "--attach-seconds",
         [&options](double seconds) {
           options.attach_bound = std::chrono::milliseconds(static_cast<int>(seconds * 1e3));
         },
         "How long to wait for the memory node at start (default 30)")
      .range(0.0, 86'400.0);
  app.add_option("--listen", options.listen, "HOST:PORT (0: any free port) or unix:PATH")
      .show_default();
  app.add_flag("--insecure", options.insecure,
               "Allow --listen without certificates, and --metrics, on an address that other "
               "machines can reach");
  rpc::add_tls_flags(app, options.tls);
  app.add_option("--queue", options.queue, "Queries that may wait for a slot; more are refused")
      .range(1, 1 << 20)
      .show_default();
  app.add_option("--max-k", options.limits.max_k, "Largest k of a request")
      .range(1, 65'536)
      .show_default();
  app.add_option("--max-list", options.limits.max_list, "Largest list of a request")
      .range(1, 65'536)
      .show_default();
  app.add_option("--max-width", options.limits.max_width, "Largest width of a request")
      .range(1u, graph::kMaxWidth)
      .show_default();
  app.add_option("--max-probe", options.limits.max_probe,
                 "Cluster indexes only: most clusters that a request may search")
      .range(1, 1 << 20)
      .show_default();
  app.add_option("--default-probe", options.limits.default_probe,
                 "Cluster indexes only: clusters that are searched when a request does not say")
      .range(1, 1 << 20)
      .show_default();
  app.add_option<int>(
         "--default-deadline-ms",
         [&options](int ms) { options.default_deadline = std::chrono::milliseconds(ms); },
         "Deadline of calls that bring none (default 1000)")
      .range(1, 3'600'000);
  app.add_option("--metrics", options.metrics, "Serve Prometheus metrics on HOST:PORT");
}

void add_recall_flags(Command& app, RecallOptions& recall) {
  app.add_option("--recall-sample", recall.share,
                 "Share of the searches that the node repeats exactly, to report the recall that "
                 "it really gives: 0.001 is one in 1,000. 0: none")
      .range(0.0, 1.0)
      .show_default();
  app.add_option("--recall-rows", recall.rows_per_second,
                 "With --recall-sample: rows that exact searches compare in a second, on average")
      .range(1u, 1'000'000'000u)
      .show_default();
  app.add_option("--recall-goal", recall.goal,
                 "With --recall-sample: say in the log when recall is lower. 0: never")
      .range(0.0, 1.0)
      .show_default();
}

void refuse_unused_recall(const Command& app, const DaemonOptions& options) {
  const bool sampling = options.recall.share > 0;
  const std::vector<OptionRule> rules{{"--recall-rows", sampling, "--recall-sample above 0"},
                                      {"--recall-goal", sampling, "--recall-sample above 0"}};
  refuse_unused(app, rules);
}

}  // namespace

bool parse_command_line(int argc, char** argv, DaemonOptions& options, int& exit_code) {
  CommandLine app(kDescription, "farvec-compute-node");
  app.footer(kExample);
  app.version(fmt::format("farvec-compute-node {} ({})", version(), commit()));
  app.takes_config();
  SourceArguments source;
  source.add(app);
  add_core_flags(app, options);
  add_service_flags(app, options);
  add_recall_flags(app, options.recall);
  app.callback([&source] { source.require_one(); });
  if (const auto status = app.parse(argc, argv)) {
    exit_code = *status;
    return false;
  }
  options.source = source.read(app, options.limits);
  refuse_unused_recall(app, options);
  options.limits.max_queries = options.queue;
  options.limits.default_width = std::min(options.limits.default_width, options.limits.max_width);
  options.limits.default_list = std::min(options.limits.default_list, options.limits.max_list);
  options.limits.default_probe = std::min(options.limits.default_probe, options.limits.max_probe);
  return true;
}

}  // namespace farvec::compute_node
