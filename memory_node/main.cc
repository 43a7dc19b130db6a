// This program is farvec-memory-node: the command line and the signals.
#include <atomic>
#include <csignal>
#include <thread>

#include "base/command_line.h"
#include "base/log.h"
#include "base/option_rules.h"
#include "base/quantity.h"
#include "base/said_by.h"
#include "base/version.h"
#include "layout/index/placement.h"
#include "memory_node/daemon.h"
#include "rpc/tls_flags.h"

namespace farvec::memory_node {
namespace {

constexpr const char* kFooter = R"(Example:
  farvec build graph --data base.fbin --metric l2 --degree 32 --list 100 --out index/
  farvec-memory-node --index index/ --listen unix:/tmp/memory-node.sock

Clients attach through the listen address; on the same machine they then map the regions read-only.
Without certificates or --insecure the node listens only where no other machine can reach it.
SIGTERM and SIGINT drain: no new client, then --drain-seconds for the present ones to detach.)";

struct Arguments {
  DaemonOptions daemon;
  std::string listen = "127.0.0.1:7700";
  std::string backing = "dram";
  std::string log_bytes;
  std::string segment_bytes;
  std::string log_level;
  double lease_seconds = 10;
  double drain_seconds = 10;
};

/// Adds the options for how clients read, besides by loads where they can map the regions.
void add_transport_flags(CommandLine& app, DaemonOptions& daemon) {
  app.add_option("--rdma", daemon.rdma,
                 "Address of an RDMA device (see `rdma link`): clients may read over RDMA");
  app.add_option("--rdma-port", daemon.rdma_port,
                 "0: the system's choice. A log has this one, and the index the one after it;\n"
                 "every further table, and every segment, the next one that is free")
      .show_default();
  app.add_option("--fabric", daemon.fabric,
                 "libfabric's PROVIDER:HOST (tcp, verbs;ofi_rxm; HOST: the address of one of this\n"
                 "machine's interfaces) or PROVIDER where it has no such addresses (shm, efa):\n"
                 "clients may read through it");
}

void add_lease_flags(CommandLine& app, Arguments& arguments) {
  DaemonOptions& daemon = arguments.daemon;
  app.add_option("--max-leases", daemon.max_leases, "Clients at one time")
      .range(1, 100'000)
      .show_default();
  app.add_option("--connections-per-lease", daemon.connections_per_lease,
                 "RDMA connections that one client may have, which needs one per core; so at most\n"
                 "--max-leases times as many in all. Default: twice this machine's processors, at\n"
                 "least 64")
      .range(1, 10'000);
  app.add_option("--lease-seconds", arguments.lease_seconds, "A silent client is dropped after")
      .range(0.1, 3600.0)
      .show_default();
  app.add_option("--drain-seconds", arguments.drain_seconds, "Bound on waiting for clients")
      .range(0.0, 3600.0)
      .show_default();
}

void declare(CommandLine& app, Arguments& arguments) {
  DaemonOptions& daemon = arguments.daemon;
  app.footer(kFooter);
  app.version(fmt::format("farvec-memory-node {} ({})", version(), commit()));
  app.takes_config();
  app.add_option(
      "--index", daemon.index,
      "Index directory to load, verify and serve; --backing devdax and pmem: without it\n"
      "the newest index that lies there; with --log-bytes or --segment-bytes it may be\n"
      "left out");
  app.add_option("--node", daemon.node,
                 "Serve what the index's placement ('farvec place') gives to this node, from 0")
      .range(0u, layout::Placement::kMaxNodes - 1)
      .show_default();
  app.add_option("--listen", arguments.listen, "HOST:PORT or unix:/path").show_default();
  app.add_option("--backing", arguments.backing,
                 "Memory to load into: dram, shm, file; or devdax or pmem,\n"
                 "which keep indexes: one that lies there is attached where it lies")
      .show_default();
  app.add_option(
      "--backing-path", daemon.backing.path,
      "shm: prefix of the names in /dev/shm; file: an existing folder; devdax: /dev/daxX.Y,\n"
      "pmem: a file, both made by 'farvec devices format'");
  app.add_option("--log-bytes", arguments.log_bytes,
                 fmt::format("Also hold a log of this size, in zeros first, which one client at a\n"
                             "time may write from afar: {}; --backing dram, shm or file",
                             kSizeForms))
      .size();
  app.add_option("--segment-bytes", arguments.segment_bytes,
                 fmt::format("Also hold segments of collections, which their writers have it load\n"
                             "(--segment-nodes of a compute node); this is their size in all: {};\n"
                             "--backing dram, shm or file",
                             kSizeForms))
      .size();
  app.add_option("--grant", daemon.grant_path,
                 "Unix socket that hands out descriptors (default: beside --listen)");
  add_transport_flags(app, daemon);
  app.add_option("--metrics", daemon.metrics, "Prometheus on HOST:PORT, or off").show_default();
  app.add_flag("--insecure", daemon.insecure,
               "Listen without certificates where other machines can reach the node");
  rpc::add_tls_flags(app, daemon.tls);
  app.add_option(
      "--publisher", daemon.publishers,
      "Name in a certificate that may publish another index ('farvec publish') and write the\n"
      "log over TLS; may be given again. Callers of this machine without certificate always may");
  app.add_option(
      "--load-from", daemon.load_from,
      "Folder below which lies what callers may have the node load (publish, segments of\n"
      "collections); may be given again. Default: the folder that --index lies in; callers\n"
      "through the node's own Unix socket, which is its owner's alone, may then name any");
  app.add_option("--threads", daemon.threads, "Loading threads; 0 is one per processor");
  add_lease_flags(app, arguments);
  app.add_option("--log-level", arguments.log_level, "trace, debug, info, warn or error")
      .one_of({"trace", "debug", "info", "warn", "error"});
  app.add_flag("--quiet", daemon.quiet, "No progress line");
}

/// Throws Error for options that would be ignored.
void check_options(const Command& app, const Arguments& arguments) {
  const BackingKind kind = parse_backing_kind(arguments.backing);
  const bool dram = kind == BackingKind::dram;
  const bool more = !arguments.log_bytes.empty() || !arguments.segment_bytes.empty();
  if (!arguments.segment_bytes.empty() && is_stored(kind)) {
    throw Error("--segment-bytes: segments are held in --backing dram, shm or file, not in {}",
                arguments.backing);
  }
  if (arguments.daemon.index.empty() && !more && !is_stored(kind)) {
    throw Error("--index is missing: the directory of the index to serve");
  }
  refuse_unused(
      app, std::vector<OptionRule>{
               {"--backing-path", !dram, "--backing shm, file, devdax and pmem; --backing is dram"},
               {"--rdma-port", !arguments.daemon.rdma.empty(), "--rdma ADDRESS, which is missing"},
               {"--publisher", !arguments.daemon.tls.certificate.empty(),
                "TLS, and --tls-cert is missing"}});
}

std::chrono::milliseconds to_ms(double seconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

DaemonOptions to_options(Arguments arguments) {
  DaemonOptions& daemon = arguments.daemon;
  if (!arguments.log_bytes.empty()) {
    daemon.log_bytes = parse_bytes(arguments.log_bytes, "--log-bytes");
    if (daemon.log_bytes == 0) throw Error("--log-bytes: a log has at least one byte");
  }
  if (!arguments.segment_bytes.empty()) {
    daemon.segment_bytes = parse_bytes(arguments.segment_bytes, "--segment-bytes");
    if (daemon.segment_bytes == 0) throw Error("--segment-bytes: 0 bytes hold no segment");
  }
  daemon.listen = rpc::parse_address(arguments.listen);
  daemon.backing.kind = parse_backing_kind(arguments.backing);
  if (daemon.backing.kind == BackingKind::shm && daemon.backing.path.empty()) {
    daemon.backing.path = "farvec";
  }
  daemon.lease = to_ms(arguments.lease_seconds);
  daemon.drain = to_ms(arguments.drain_seconds);
  return daemon;
}

/// Sets `stop` at the first SIGTERM or SIGINT, on a thread of its own. It is made before every
/// other thread, so that all of them leave these signals to it.
class SignalWatch {
 public:
  explicit SignalWatch(std::atomic<bool>& stop) {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGTERM);
    sigaddset(&signals_, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
    thread_ = std::jthread([this, &stop](const std::stop_token& ended) {
      const timespec tick{0, 50'000'000};
      while (!ended.stop_requested()) {
        // relaxed: only the flag itself matters.
        if (sigtimedwait(&signals_, nullptr, &tick) > 0) {
          stop.store(true, std::memory_order_relaxed);
        }
      }
    });
  }

 private:
  sigset_t signals_;
  std::jthread thread_;
};

int run(int argc, char** argv) {
  Arguments arguments;
  CommandLine app("Serves an index from this machine's memory; runs no search code.",
                  "farvec-memory-node");
  declare(app, arguments);
  if (const auto status = app.parse(argc, argv)) return *status;
  set_up_logging("farvec-memory-node");
  if (!arguments.log_level.empty()) {
    spdlog::set_level(spdlog::level::from_str(arguments.log_level));
  }
  std::atomic<bool> stop{false};
  try {
    check_options(app, arguments);
    const SignalWatch watch(stop);
    run_daemon(to_options(std::move(arguments)), stop);
  } catch (const std::exception& error) {
    fmt::print(stderr, "farvec-memory-node: {}\n", said_by(error));
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace farvec::memory_node

int main(int argc, char** argv) {
  return farvec::memory_node::run(argc, argv);
}
