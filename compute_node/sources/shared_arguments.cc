#include "compute_node/sources/shared_arguments.h"

#include <fmt/format.h>

#include <vector>

#include "base/error.h"
#include "base/option_rules.h"
#include "layout/collection/change_record.h"
#include "wal/durability_option.h"

namespace farvec::compute_node {
namespace {

void add_change_flags(Command& app, SharedArguments& shared) {
  ChangeOptions& changes = shared.changes;
  app.add_option("--durability", shared.durability, wal::durability_help("the node ends"))
      .show_default();
  app.add_option("--change-threads", changes.threads,
                 "Changes that are worked on at once, and share a sync of the log")
      .range(1u, 256u)
      .show_default();
  app.add_option("--change-queue", changes.calls,
                 "Changes that may be under way or wait; more are refused")
      .range(1u, 1u << 20)
      .show_default();
  app.add_option("--change-bytes", changes.bytes, "Bytes of them; more are refused")
      .size()
      .show_default();
  app.add_option("--changer", changes.changers,
                 "Name in a certificate that may change the collection over TLS: insert, delete, "
                 "flush and compact; may be given again. Callers of this machine without "
                 "certificate always may; all other clients may search and get");
}

}  // namespace

void add_shared_flags(Command& app, SharedArguments& shared) {
  app.add_option(
      "--tier", shared.tier,
      fmt::format("How records are read. With --memory-node [shm]; the node runs with --rdma for\n"
                  "verbs, with --fabric for fabric:\n{}.\nWith --index or --collection [dram; ssd "
                  "for a collection of slotted pages]:\n{}",
                  tiers::tier_help(tiers::TierUse::over_nodes),
                  tiers::tier_help(tiers::TierUse::here)));
  app.add_option<int>(
         "--node-timeout-ms",
         [&shared](int ms) { shared.node_timeout = std::chrono::milliseconds(ms); },
         "With several memory nodes: one that owes reads and is silent for this long is given up, "
         "and its replicas are read (default 250). Without --partial, a node that owes reads of "
         "which no replica is left has at least 5000")
      .range(1, 600'000);
  app.add_flag("--partial", shared.partial,
               "With several memory nodes: answer without records of which no replica is left, and "
               "say how much of the index was there (coverage), where a request does not ask for "
               "the opposite; else such queries end with UNAVAILABLE");
  app.add_option("--cache-bytes", shared.cache_bytes,
                 "Record cache over all cores, e.g. 64MB (1000s) or 64MiB (1024s); tiers that are "
                 "not a load only")
      .size()
      .show_default();
  search::add_disk_options(app, shared.disk, false);
  add_change_flags(app, shared);
}

void refuse_unused_shared(const Command& app, const SharedUse& use) {
  std::vector<OptionRule> rules;
  const auto add = [&rules](const char* option, const std::string& where) {
    rules.push_back({option, where == SharedUse::kTaken, where});
  };
  for (const char* option :
       {"--durability", "--change-threads", "--change-queue", "--change-bytes"}) {
    add(option, use.changes);
  }
  rules.push_back({"--changer", use.changes == SharedUse::kTaken && app.was_given("--tls-cert"),
                   "--paged, and --collection without --follow, over TLS (--tls-cert)"});
  add("--tier", use.tier);
  add("--node-timeout-ms", use.nodes);
  add("--partial", use.nodes);
  add("--memory-budget", use.budget);
  add("--cache-bytes", use.cache);
  for (const char* option : search::kPageOptions) add(option, use.pages);
  refuse_unused(app, rules);
}

void check_changes(const SharedArguments& shared) {
  wal::LogOptions log;
  wal::parse_durability(shared.durability, log);
  if (shared.changes.bytes >= layout::kMostChangeBytes) return;
  throw Error("--change-bytes {}: use at least {}, the largest change", shared.changes.bytes,
              layout::kMostChangeBytes);
}

std::string cache_use(const tiers::TierSpec& tier) {
  if (!tier.traits().loads) return SharedUse::kTaken;
  return "tiers that are read, not loaded from (verbs, fabric, ssd and emulated devices far away); "
         "--tier is " +
         tier.name();
}

}  // namespace farvec::compute_node
