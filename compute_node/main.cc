// farvec-compute-node.
#include <fmt/format.h>

#include <csignal>
#include <exception>

#include "base/log.h"
#include "base/said_by.h"
#include "compute_node/backends/collection_backend.h"
#include "compute_node/backends/directory_backend.h"
#include "compute_node/backends/following_backend.h"
#include "compute_node/backends/memory_node_backend.h"
#include "compute_node/daemon/daemon.h"

namespace {

constexpr int kFailed = 1;

/// Before any thread exists, so that all inherit it.
void block_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

std::unique_ptr<farvec::compute_node::SearchBackend> make_backend(
    const farvec::compute_node::DaemonOptions& options) {
  using namespace farvec::compute_node;
  if (options.follow) return std::make_unique<FollowingBackend>(options);
  if (!options.collection.empty()) return std::make_unique<CollectionBackend>(options);
  if (options.index.empty()) return std::make_unique<MemoryNodeBackend>(options);
  return std::make_unique<DirectoryBackend>(options);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace farvec::compute_node;
  try {
    block_signals();
    DaemonOptions options;
    int exit_code = 0;
    if (!parse_command_line(argc, argv, options, exit_code)) return exit_code;
    farvec::set_up_logging("farvec-compute-node");
    const std::unique_ptr<SearchBackend> backend = make_backend(options);
    return run_daemon(options, *backend);
  } catch (const std::exception& e) {
    fmt::print(stderr, "farvec-compute-node: error: {}\n", farvec::said_by(e));
    return kFailed;
  }
}
