// These functions send queries to a compute node, call after call.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "base/progress.h"
#include "client/remote_node.h"
#include "client/remote_results.h"
#include "dataset/vector_file.h"

namespace farvec::client {

struct RemoteSearchOptions {
  NodeAccess node;
  search::AskedSearch parameters;
  std::uint32_t queries_per_call = 64;
  std::chrono::milliseconds deadline{10'000};  ///< for each attempt at a call
  /// Attempts at a call after the first one, when the node or a query's result says
  /// RESOURCE_EXHAUSTED or UNAVAILABLE.
  std::uint32_t retries = 0;
  /// Is asked before every call, and while one is under way, which it ends.
  Interruption interrupted = {};
  /// Is told after every call how many queries it has answered.
  std::function<void(std::size_t queries)> answered = {};
  /// Is told before every further attempt at a call.
  std::function<void()> again = {};
  layout::Schema select = {};  ///< the schema of the columns that parameters select
  bool wide_ids = false;  ///< user_ids are filled in; else an id of more than 32 bits is an error
};

/// Sends every row of `queries` as a query, call after call. Throws Error naming the option that
/// does not fit the node's index before any query is sent, and StatusError naming the node and
/// gRPC's status when a query fails, or what the node says that cannot be. Throws WorkInterrupted.
RemoteResults search_remote(const RemoteSearchOptions& options, dataset::VectorReader& queries);

/// Does the same with a node that is connected and whose limits the parameters are within. Any
/// thread may call it.
RemoteResults search_node(compute_node::v1::ComputeNode::Stub& stub,
                          const RemoteSearchOptions& options, dataset::VectorReader& queries);

}  // namespace farvec::client
