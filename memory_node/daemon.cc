#include "memory_node/daemon.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "memory_node/grant_server.h"
#include "memory_node/metrics.h"
#include "memory_node/read_path.h"
#include "memory_node/service.h"
#include "rpc/server.h"

namespace farvec::memory_node {
namespace {

using Clock = LeaseTable::Clock;
constexpr std::chrono::milliseconds kTick{50};
constexpr std::chrono::milliseconds kCallGrace{1000};
constexpr std::size_t kSpareConnections = 16;

/// Everything that listens. Members end in reverse order: first nobody new can come in.
class Node {
 public:
  Node(const DaemonOptions& options, const std::atomic<bool>& stop)
      : options_(options),
        stop_(stop),
        state_(options.max_leases, options.lease),
        // Absolute: clients with other working directories are told it.
        grant_path_(std::filesystem::absolute(
            options.grant_path.empty() ? default_grant_path(options.listen) : options.grant_path)),
        service_(state_, options.backing.kind) {
    if (!options.fabric.empty()) check_fabric(options.fabric);
    rpc::ServerOptions server;
    server.address = options.listen;
    server.insecure = options.insecure;
    server.tls = rpc::load_tls(options.tls);
    server.services = {&service_};
    server_.emplace(std::move(server));
    GrantServer::Options grants;
    grants.path = grant_path_;
    grants.max_connections = options.max_leases + kSpareConnections;
    grants_.emplace(std::move(grants), state_.leases, state_.regions);
    if (options.metrics != "off") metrics_.emplace(options.metrics, options.insecure, state_);
  }

  void load() {
    const auto index = layout::IndexDirectory::open(options_.index);
    // relaxed, here and below: see NodeState.
    state_.total_bytes.store(bytes_to_load(index.manifest()), std::memory_order_relaxed);
    LoadRequest request;
    request.backing = options_.backing;
    request.node = options_.node;
    request.threads = options_.threads;
    request.quiet = options_.quiet;
    request.loaded_bytes = &state_.loaded_bytes;
    request.stop = &stop_;
    const auto table = load_index(index, request);
    open_read_paths(*table);
    state_.regions.publish(table);
    state_.state.store(v1::STATE_SERVING, std::memory_order_relaxed);
    server_->set_serving(true);
    spdlog::info("serving {} on {}: {} bytes, loaded and verified in {:.2f} s", options_.index,
                 rpc::to_string(server_->address()), table->total_bytes(), table->load_seconds);
  }

  void serve() const {
    while (!stop_.load(std::memory_order_relaxed)) std::this_thread::sleep_for(kTick);
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
  void open_read_paths(const RegionTable& table) {
    const ReadPathInputs inputs{table, state_.leases, options_.max_leases};
    paths_.push_back(mapped_read_path(grant_path_));
    if (!options_.rdma.empty()) {
      paths_.push_back(verbs_read_path(inputs, options_.rdma, options_.rdma_port));
    }
    if (!options_.fabric.empty()) paths_.push_back(fabric_read_path(inputs, options_.fabric));
    for (const auto& path : paths_) service_.add(*path);
  }

  const DaemonOptions& options_;
  const std::atomic<bool>& stop_;
  NodeState state_;
  const std::string grant_path_;
  Service service_;
  std::optional<rpc::Server> server_;
  std::optional<GrantServer> grants_;
  std::optional<Metrics> metrics_;
  std::vector<std::unique_ptr<ReadPath>> paths_;  ///< over the bytes of state_'s regions
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
