// DaemonOptions are what the command line of farvec-compute-node says; parse_command_line() reads
// it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "compute_node/service/admission.h"
#include "compute_node/service/recall_sampler.h"
#include "compute_node/sources/source.h"
#include "rpc/tls.h"

namespace farvec::compute_node {

struct DaemonOptions {
  Source source;  ///< what is served
  std::string listen = "127.0.0.1:7711";
  bool insecure = false;
  rpc::TlsFiles tls;  ///< to clients and the memory node, over TCP
  std::uint32_t threads = 1;
  std::uint32_t slots = 16;
  std::uint32_t queue = 1024;
  RequestLimits limits;  ///< max_queries is the queue
  std::chrono::milliseconds default_deadline{1'000};
  RecallOptions recall;
  std::string metrics;  ///< HOST:PORT; empty: none
  std::chrono::milliseconds attach_bound{30'000};
  std::chrono::milliseconds drain_bound{5'000};
  bool pin = false;
};

/// Fills `options`. Returns false when the program is to end with `exit_code` at once: help,
/// version, or a command line that does not fit, which has been explained on stderr.
bool parse_command_line(int argc, char** argv, DaemonOptions& options, int& exit_code);

}  // namespace farvec::compute_node
