// run_daemon() runs farvec-compute-node from its options to its end.
#pragma once

#include <memory>

#include "compute_node/daemon/daemon_options.h"
#include "compute_node/service/search_backend.h"

namespace farvec::compute_node {

/// Serves until SIGTERM or SIGINT, which the caller has blocked in every thread, and then drains.
/// Returns the exit status. Throws Error when it cannot begin because of the address or the first
/// attachment.
int run_daemon(const DaemonOptions& options, SearchBackend& backend);

}  // namespace farvec::compute_node
