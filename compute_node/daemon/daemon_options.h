// The command line of farvec-compute-node.
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
  // Exactly one of the three:
  std::string memory_node;  ///< addresses, separated by commas
  std::string index;        ///< directory
  std::string collection;   ///< folder of a collection
  bool follow = false;      ///< the collection is another process's; else it is opened for changes
  collection::NodeArguments nodes;  ///< of the collection's log and segments
  std::string tier;                 ///< as tiers::parse_tier() takes it; empty: the source's own
  std::string listen = "127.0.0.1:7711";
  bool insecure = false;
  rpc::TlsFiles tls;  ///< towards clients and the memory node, over TCP
  std::uint32_t threads = 1;
  std::uint32_t slots = 16;
  std::uint32_t queue = 1024;
  std::uint64_t cache_bytes = 0;  ///< over all cores
  search::DiskArguments disk;     ///< of tier ssd
  RequestLimits limits;           ///< max_queries is the queue
  ChangeOptions changes;          ///< of a collection
  RegroupOptions regroup;         ///< of clusters on a memory node
  std::chrono::milliseconds default_deadline{1'000};
  /// A memory node of several that owes reads for so long is given up.
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
