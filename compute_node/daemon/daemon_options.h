// DaemonOptions are what the command line of farvec-compute-node says; parse_command_line() reads
// it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "collection/read/node_arguments.h"
#include "compute_node/collection/change_options.h"
#include "compute_node/daemon/regroup_options.h"
#include "compute_node/service/query_service.h"
#include "rpc/tls.h"
#include "search/core/disk_options.h"

namespace farvec::compute_node {

struct DaemonOptions {
  // Exactly one of the three is set:
  std::string memory_node;  ///< addresses, separated by commas
  std::string index;        ///< directory
  std::string collection;   ///< folder of a collection
  bool follow = false;  ///< another process changes the collection; else it is opened for changes
  collection::NodeArguments nodes;  ///< for the collection's log and segments
  std::string tier;                 ///< see tiers::parse_tier(); empty: the source's own
  std::string listen = "127.0.0.1:7711";
  bool insecure = false;
  rpc::TlsFiles tls;  ///< to clients and the memory node, over TCP
  std::uint32_t threads = 1;
  std::uint32_t slots = 16;
  std::uint32_t queue = 1024;
  std::uint64_t cache_bytes = 0;  ///< over all cores
  search::DiskArguments disk;     ///< for tier ssd
  RequestLimits limits;           ///< max_queries is the queue
  ChangeOptions changes;          ///< for a collection
  RegroupOptions regroup;         ///< for clusters on a memory node
  std::chrono::milliseconds default_deadline{1'000};
  /// A memory node that owes reads for this long is given up, where there are several.
  std::chrono::milliseconds node_timeout{250};
  std::string metrics;  ///< HOST:PORT; empty: none
  std::chrono::milliseconds attach_bound{30'000};
  std::chrono::milliseconds drain_bound{5'000};
  bool pin = false;
};

/// Fills `options`. Returns false when the program is to end with `exit_code` at once: help,
/// version, or a command line that does not fit, which has been explained on stderr.
bool parse_command_line(int argc, char** argv, DaemonOptions& options, int& exit_code);

}  // namespace farvec::compute_node
