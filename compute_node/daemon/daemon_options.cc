#include "compute_node/daemon/daemon_options.h"

#include <fmt/format.h>

#include "base/command_line.h"
#include "base/option_rules.h"
#include "base/quantity.h"
#include "base/version.h"
#include "collection/read/node_arguments.h"
#include "graph/beam_search.h"
#include "layout/collection/change_record.h"
#include "layout/index/index_directory.h"
#include "rpc/tls_flags.h"
#include "tiers/tier_spec.h"
#include "wal/durability_option.h"

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
    "SIGTERM refuses new queries, finishes what runs, and ends with status 0.";

void add_source_flags(Command& app, DaemonOptions& options) {
  Option memory_node =
      app.add_option("--memory-node", options.memory_node,
                     "Attach to the memory node at HOST:PORT or unix:PATH; to several with commas, "
                     "when the index is placed over them ('farvec place')");
  Option index = app.add_option("--index", options.index, "Open an index directory instead");
  memory_node.excludes(index);
  const Option collection =
      app.add_option("--collection", options.collection,
                     "Open a collection for changes instead ('farvec collection create'): its "
                     "folder, or with --follow, --log-nodes and --segment-nodes nodes:NAME, which "
                     "is found on these nodes alone; NAME is what its folder is called where it is "
                     "changed, or its number on the nodes, and may be left out where they have one "
                     "collection");
  memory_node.excludes(collection);
  index.excludes(collection);
  app.add_flag("--follow", options.follow,
               "With --collection: another process changes it; what that does is searched within "
               "milliseconds");
  collection::add_node_options(app, options.nodes, "With --collection: ");
  collection::add_copies_options(app, options.nodes);
  app.add_option(
      "--tier", options.tier,
      fmt::format("How records are read. With --memory-node [shm]; the node runs with --rdma for\n"
                  "verbs, with --fabric for fabric:\n{}.\nWith --index or --collection [dram]:\n{}",
                  tiers::tier_help(tiers::TierUse::over_nodes),
                  tiers::tier_help(tiers::TierUse::here)));
  app.add_option<double>(
         "--attach-seconds",
         [&options](double seconds) {
           options.attach_bound = std::chrono::milliseconds(static_cast<int>(seconds * 1e3));
         },
         "How long to wait for the memory node at start (default 30)")
      .range(0.0, 86'400.0);
  app.add_option<int>(
         "--node-timeout-ms",
         [&options](int ms) { options.node_timeout = std::chrono::milliseconds(ms); },
         "With several memory nodes: one that owes reads and is silent for so long is given up, "
         "and "
         "its replicas are read (default 250)")
      .range(1, 600'000);
  app.add_flag("--partial", options.limits.default_partial,
               "With several memory nodes: answer without records of which no replica is left, and "
               "say how much of the index was there (coverage), where a request does not ask for "
               "the opposite; else such queries end with UNAVAILABLE");
  app.add_option("--cache-bytes", options.cache_bytes,
                 "Record cache over all cores, e.g. 64MB (1000s) or 64MiB (1024s); tiers that are "
                 "not a load only")
      .size()
      .show_default();
  search::add_disk_options(app, options.disk, false);
}

void add_change_flags(Command& app, ChangeOptions& changes) {
  app.add_option("--durability", changes.durability, wal::durability_help("the node ends"))
      .show_default();
  app.add_option("--change-threads", changes.threads,
                 "Inserts and deletes that are worked on at once, and share a sync of the log")
      .range(1u, 256u)
      .show_default();
  app.add_option("--change-queue", changes.calls,
                 "Inserts and deletes that may be under way or wait; more are refused")
      .range(1u, 1u << 20)
      .show_default();
  app.add_option("--change-bytes", changes.bytes, "Bytes of them; more are refused")
      .size()
      .show_default();
  app.add_option("--build-threads", changes.build_threads, "Threads that build segments")
      .range(1u, 1024u)
      .show_default();
  app.add_option("--merge-threads", changes.merge_threads,
                 "Threads that merge segments, beside those; 0: one per processor")
      .range(0u, 1024u)
      .show_default();
  app.add_option("--changer", changes.changers,
                 "Name in a certificate that may change the collection over TLS: insert, delete, "
                 "flush and compact; may be given again. Callers of this machine without "
                 "certificate always may; everybody else who connects may search and get");
  app.add_option("--followers", changes.followers,
                 "Compute nodes that follow the collection, separated by commas: when segments of "
                 "clusters are merged, vectors are grouped by what these nodes have probed, and by "
                 "what this one has. One that does not answer is left out");
  app.add_option("--merge-bytes-per-second", changes.merge_bytes_per_s,
                 "Of the disk, that merges read and write together; 0: as many as they can")
      .size()
      .show_default();
}

void add_regroup_flags(Command& app, RegroupOptions& regroup) {
  app.add_option("--regroup", regroup.index,
                 "With one --memory-node that serves clusters: the directory of the index, as this "
                 "process and the memory node see it. Where other groups would save enough of the "
                 "requests that were counted, the index is written again beside it, as "
                 "DIRECTORY.regrouped-N, and published: every compute node goes over to it");
  app.add_option("--regroup-gain", regroup.least_gain,
                 "With --regroup: the share of requests that is enough")
      .range(0.001, 1.0)
      .show_default();
  app.add_option("--regroup-seconds", regroup.every_seconds, "With --regroup: between two looks")
      .range(0.01, 1e6)
      .show_default();
  app.add_option("--regroup-with", regroup.beside,
                 "With --regroup: other compute nodes that serve the index, separated by commas, "
                 "whose probes count too. One node of all regroups");
}

void add_core_flags(Command& app, DaemonOptions& options) {
  app.add_option("--threads", options.threads, "Cores that search").range(1, 1024).show_default();
  app.add_option("--slots", options.slots, "Searches in flight on each core; 1 is synchronous")
      .range(1, 1024)
      .show_default();
  app.add_flag("--pin", options.pin, "Pin each core's thread to one processor");
}

void add_service_flags(Command& app, DaemonOptions& options) {
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

tiers::TierSpecPointer tier_of(const DaemonOptions& options) {
  if (!options.tier.empty()) return tiers::parse_tier(options.tier);
  return tiers::parse_tier(options.memory_node.empty() ? "dram" : "shm");
}

/// Checks the options for an index on a disk, whose manifest says what kind it is. When they say
/// how many results are ranked again, lowers max_k to that number: more results cannot be asked
/// for.
void check_disk_options(const Command& app, DaemonOptions& options) {
  const auto directory = layout::IndexDirectory::open(options.index);
  const bool slotted = directory.manifest().is_slotted();
  const std::string pages =
      fmt::format("slotted pages; '{}' is {}", options.index, directory.manifest().layout_name());
  std::vector<OptionRule> rules{
      {"--cache-bytes", !slotted, "indexes without a pool, which --memory-budget bounds"}};
  for (const char* option : search::kPageOptions) rules.push_back({option, slotted, pages});
  refuse_unused(app, rules);
  const auto rerank =
      search::parse_disk_choice(options.disk, directory.manifest()).rerank.value_or(0);
  if (rerank > 0) options.limits.max_k = std::min(options.limits.max_k, rerank);
}

/// Checks the options for an index that is opened here, whose kind is known. The index of a memory
/// node may be followed by one of another kind, so its options are not checked here.
void check_kind_options(const Command& app, const std::string& index) {
  const layout::IndexKind kind = layout::IndexDirectory::open(index).manifest().kind();
  const bool graph = kind == layout::IndexKind::graph;
  const bool clusters = kind == layout::IndexKind::cluster;
  const std::string is = fmt::format("; '{}' is {}", index, in_words(kind));
  refuse_unused(app, std::vector<OptionRule>{{"--max-list", graph, "graphs" + is},
                                             {"--max-width", graph, "graphs" + is},
                                             {"--max-probe", clusters, "clusters" + is},
                                             {"--default-probe", clusters, "clusters" + is}});
}

/// Checks the options that only a collection has, and those that none has.
void check_change_options(const Command& app, const DaemonOptions& options) {
  const bool collection = !options.collection.empty();
  std::vector<OptionRule> rules;
  for (const char* option :
       {"--durability", "--change-threads", "--change-queue", "--change-bytes", "--build-threads",
        "--merge-threads", "--followers", "--merge-bytes-per-second"}) {
    rules.push_back({option, collection && !options.follow, "--collection without --follow"});
  }
  rules.push_back({"--changer", collection && !options.follow && !options.tls.certificate.empty(),
                   "--collection without --follow, over TLS (--tls-cert)"});
  rules.push_back({"--follow", collection, "--collection"});
  rules.push_back({"--log-nodes", collection, "--collection"});
  rules.push_back({"--log-copies", !options.nodes.log.empty() && !options.follow,
                   "--log-nodes without --follow"});
  const bool on_nodes = !options.nodes.segments.empty();
  rules.push_back({"--segment-nodes", collection, "--collection"});
  rules.push_back(
      {"--segment-copies", on_nodes && !options.follow, "--segment-nodes without --follow"});
  rules.push_back({"--tier", !on_nodes, "sources other than --segment-nodes (--segment-tier)"});
  for (const char* option : {"--cache-bytes", "--memory-budget"}) {
    rules.push_back({option, !collection, "--index and --memory-node; this is --collection"});
  }
  refuse_unused(app, rules);
  collection::refuse_unused_node_options(app, options.nodes);
  if (collection::nodes_name(options.collection) &&
      (!options.follow || !on_nodes || options.nodes.log.empty())) {
    throw Error(
        "--collection {}: a collection on memory nodes is followed (--follow, --log-nodes and "
        "--segment-nodes); a writer names its folder",
        options.collection);
  }
  wal::LogOptions log;
  wal::parse_durability(options.changes.durability, log);
  if (collection && options.changes.bytes < layout::kMostChangeBytes) {
    throw Error("--change-bytes {}: use at least {}, the largest change", options.changes.bytes,
                layout::kMostChangeBytes);
  }
}

void check_regroup_options(const Command& app, const DaemonOptions& options) {
  refuse_unused(app, std::vector<OptionRule>{
                         {"--regroup", !options.memory_node.empty(), "--memory-node"},
                         {"--regroup-gain", !options.regroup.index.empty(), "--regroup"},
                         {"--regroup-seconds", !options.regroup.index.empty(), "--regroup"},
                         {"--regroup-with", !options.regroup.index.empty(), "--regroup"}});
  if (options.regroup.index.empty()) return;
  if (rpc::parse_addresses(options.memory_node).size() > 1) {
    throw Error(
        "--regroup: an index that is placed over several memory nodes is not written "
        "again; use `farvec regroup`, `farvec place` and `farvec publish`");
  }
  const layout::Manifest manifest = layout::IndexDirectory::open(options.regroup.index).manifest();
  if (!manifest.is_cluster()) {
    throw Error("--regroup {}: clusters are grouped, and this is {}", options.regroup.index,
                in_words(manifest.kind()));
  }
}

/// Throws Error for options that would be ignored.
void check_options(const Command& app, DaemonOptions& options) {
  const tiers::TierSpecPointer tier = tier_of(options);
  const tiers::TierTraits traits = tier->traits();
  const bool nodes = !options.memory_node.empty() || !options.nodes.segments.empty();
  const bool collection = !options.collection.empty();
  check_change_options(app, options);
  check_regroup_options(app, options);
  refuse_unused(
      app, std::vector<OptionRule>{
               {"--node-timeout-ms", nodes, "--memory-node and --segment-nodes"},
               {"--partial", nodes, "--memory-node and --segment-nodes"},
               {"--memory-budget", traits.disk, "--tier ssd; --tier is " + tier->name()},
               {"--cache-bytes", !traits.loads,
                "tiers that are read, not loaded from (verbs, fabric, ssd and emulated devices far "
                "away); --tier is " +
                    tier->name()}});
  if (!options.index.empty()) check_kind_options(app, options.index);
  if (nodes || collection || !traits.disk) {
    std::vector<OptionRule> rules;
    for (const char* option : search::kPageOptions) {
      rules.push_back({option, false, "--tier ssd; --tier is " + tier->name()});
    }
    refuse_unused(app, rules);
  } else {
    check_disk_options(app, options);
  }
}

}  // namespace

bool parse_command_line(int argc, char** argv, DaemonOptions& options, int& exit_code) {
  CommandLine app(kDescription, "farvec-compute-node");
  app.footer(kExample);
  app.version(fmt::format("farvec-compute-node {} ({})", version(), commit()));
  app.takes_config();
  add_source_flags(app, options);
  add_change_flags(app, options.changes);
  add_regroup_flags(app, options.regroup);
  add_core_flags(app, options);
  add_service_flags(app, options);
  app.callback([&options] {
    if (!options.memory_node.empty() || !options.index.empty()) return;
    if (!options.collection.empty()) return;
    throw UsageError(
        "--memory-node ADDRESS, --index DIRECTORY or --collection DIRECTORY is required");
  });
  if (const auto status = app.parse(argc, argv)) {
    exit_code = *status;
    return false;
  }
  check_options(app, options);
  options.limits.max_queries = options.queue;
  options.limits.default_width = std::min(options.limits.default_width, options.limits.max_width);
  options.limits.default_list = std::min(options.limits.default_list, options.limits.max_list);
  options.limits.default_probe = std::min(options.limits.default_probe, options.limits.max_probe);
  return true;
}

}  // namespace farvec::compute_node
