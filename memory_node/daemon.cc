#include "memory_node/daemon.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <thread>

#include "memory_node/grant_server.h"
#include "memory_node/log_store.h"
#include "memory_node/metrics.h"
#include "memory_node/publisher.h"
#include "memory_node/service.h"
#include "rpc/server.h"

namespace farvec::memory_node {
namespace {

using Clock = LeaseTable::Clock;
constexpr std::chrono::milliseconds kTick{50};
constexpr std::chrono::milliseconds kCallGrace{1000};
constexpr std::size_t kSpareConnections = 16;
constexpr std::size_t kWriterLeases = 2;  // for the log's writer, beside max_leases

/// Has everything that listens. Members end in reverse order, so that no new client can come in
/// from the beginning of the end.
class Node {
 public:
  Node(const DaemonOptions& options, const std::atomic<bool>& stop)
      : options_(options),
        stop_(stop),
        state_(options.max_leases, options.lease),
        // The path is absolute, because clients with other working directories are told it.
        grant_path_(std::filesystem::absolute(
            options.grant_path.empty() ? default_grant_path(options.listen) : options.grant_path)),
        publisher_(state_, publisher_options()),
        service_(state_, publisher_, service_options()) {
    if (!options.fabric.empty()) check_fabric(options.fabric);
    rpc::ServerOptions server;
    server.address = options.listen;
    server.insecure = options.insecure;
    server.tls = rpc::load_tls(options.tls);
    server.services = {&service_};
    server_.emplace(std::move(server));
    GrantServer::Options grants;
    grants.path = grant_path_;
    grants.max_connections = options.max_leases + kWriterLeases + kSpareConnections;
    grants_.emplace(std::move(grants), state_.leases);
    if (options.metrics != "off") metrics_.emplace(options.metrics, options.insecure, state_);
  }

  void load() {
    if (options_.log_bytes > 0) {
      state_.log.set(std::make_shared<LogStore>(log_options(), state_.leases));
    }
    const bool has_index = !options_.index.empty() || is_stored(options_.backing.kind);
    const auto table = has_index ? publisher_.publish(options_.index) : nullptr;
    // relaxed, here and below: see NodeState.
    state_.state.store(v1::STATE_SERVING, std::memory_order_relaxed);
    server_->set_serving(true);
    if (table == nullptr) {
      spdlog::info("serving {} on {}: {} bytes",
                   options_.log_bytes > 0 ? "a log" : "segments of collections",
                   rpc::to_string(server_->address()),
                   options_.log_bytes > 0 ? options_.log_bytes : options_.segment_bytes);
      return;
    }
    spdlog::info("serving {} on {}: {} bytes, {} in {:.3f} s",
                 options_.index.empty() ? options_.backing.path : options_.index,
                 rpc::to_string(server_->address()), table->total_bytes(),
                 table->attached ? "attached where they lie" : "loaded and verified",
                 table->load_seconds);
  }

  void serve() {
    while (!stop_.load(std::memory_order_relaxed)) {
      std::this_thread::sleep_for(kTick);
      publisher_.collect();
    }
  }

  void drain() {
    state_.state.store(v1::STATE_DRAINING, std::memory_order_relaxed);
    server_->set_serving(false);
    spdlog::info("draining: {} leases to come back within {} ms", state_.leases.size(),
                 options_.drain.count());
    const auto end = Clock::now() + options_.drain;
    while (state_.leases.size() > 0 && Clock::now() < end) {
      std::this_thread::sleep_for(kTick);
      state_.leases.expire(Clock::now());
    }
    if (state_.leases.size() > 0) {
      spdlog::warn("{} leases did not come back; their clients see the node go",
                   state_.leases.size());
    }
    server_->shutdown(kCallGrace);
  }

 private:
  PathOptions path_options() const {
    PathOptions made;
    made.grant_path = grant_path_;
    made.rdma = options_.rdma;
    made.rdma_port = options_.rdma_port;
    made.fabric = options_.fabric;
    made.max_leases = options_.max_leases;
    made.connections_per_lease =
        options_.connections_per_lease > 0
            ? options_.connections_per_lease
            : default_connections_per_lease(std::thread::hardware_concurrency());
    return made;
  }

  ServiceOptions service_options() const {
    ServiceOptions made;
    made.backing = options_.backing.kind;
    made.publishers = options_.publishers;
    made.has_log = options_.log_bytes > 0;
    made.segment_bytes = options_.segment_bytes;
    made.folders_named = !options_.load_from.empty();
    made.folders =
        made.folders_named ? LoadFolders(options_.load_from) : LoadFolders::around(options_.index);
    return made;
  }

  LogOptions log_options() const { return {options_.log_bytes, options_.backing, path_options()}; }

  PublisherOptions publisher_options() const {
    PublisherOptions made;
    made.load.backing = options_.backing;
    if (is_stored(options_.backing.kind)) made.load.device = open_device(options_.backing);
    made.load.node = options_.node;
    made.load.threads = options_.threads;
    made.load.quiet = options_.quiet;
    made.paths = path_options();
    made.taken_ports = options_.log_bytes > 0 ? 1 : 0;
    made.segment_bytes = options_.segment_bytes;
    made.stop = &stop_;
    return made;
  }

  const DaemonOptions& options_;
  const std::atomic<bool>& stop_;
  NodeState state_;
  const std::string grant_path_;
  Publisher publisher_;
  Service service_;
  std::optional<rpc::Server> server_;
  std::optional<GrantServer> grants_;
  std::optional<Metrics> metrics_;
};

}  // namespace

std::string default_grant_path(const rpc::Address& listen) {
  if (listen.is_unix()) return listen.unix_path + ".grant";
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  return fmt::format("{}/farvec-{}-{}.grant", runtime != nullptr ? runtime : "/tmp", getuid(),
                     listen.port);
}

void run_daemon(const DaemonOptions& options, const std::atomic<bool>& stop) {
  Node node(options, stop);
  try {
    node.load();
  } catch (const LoadStopped&) {
    spdlog::info("stopped while loading; nothing was published");
    return;
  }
  node.serve();
  node.drain();
}

}  // namespace farvec::memory_node
