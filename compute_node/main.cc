// farvec-compute-node.
#include <fmt/format.h>

#include <csignal>
#include <exception>

#include "base/log.h"
#include "base/said_by.h"
#include "compute_node/backends/index_session.h"
#include "compute_node/backends/make_backend.h"
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
  return make_backend(options.source,
                      {.largest = largest_searches(options.limits, options.threads, options.slots),
                       .attach_bound = options.attach_bound,
                       .tls = farvec::rpc::load_tls(options.tls)});
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
