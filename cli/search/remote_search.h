// `farvec search --connect`: the queries of a file, answered by a compute node.
#pragma once

#include <chrono>
#include <cstdint>

#include "cli/nodes/remote_node.h"
#include "dataset/groundtruth.h"
#include "dataset/vector_file.h"

namespace farvec::cli {

struct RemoteSearchOptions {
  NodeAccess node;
  AskedSearch parameters;
  std::uint32_t queries_per_call = 64;
  std::chrono::milliseconds deadline{10'000};  ///< of each attempt at a call
  /// Attempts at a call after the first one, when the node or a query's result says
  /// RESOURCE_EXHAUSTED or UNAVAILABLE.
  std::uint32_t retries = 0;
};

struct RemoteResults {
  dataset::GroundTruth neighbors;  ///< an id of kInvalidNode: fewer than k were found
  double coverage = 1;             ///< least of all queries
};

/// Asks for every row of `queries`, call after call. Throws Error naming the option that does not
/// fit the node's index before any query is sent, and naming the node and gRPC's status when a
/// query fails.
RemoteResults search_remote(const RemoteSearchOptions& options, dataset::VectorReader& queries);

}  // namespace farvec::cli
