// `farvec search --connect`: the queries of a file, answered by a compute node.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>

#include "dataset/groundtruth.h"
#include "dataset/vector_file.h"
#include "rpc/tls.h"

namespace farvec::cli {

struct RemoteSearchOptions {
  std::string address;  ///< "HOST:PORT" or "unix:/path"
  std::uint32_t k = 10;
  std::uint32_t list = 0;   ///< 0: the node's default
  std::uint32_t width = 0;  ///< 0: the node's default
  std::uint32_t probe = 0;  ///< 0: the node's default
  float prune_ratio = std::numeric_limits<float>::infinity();
  bool partial = false;  ///< else the node's default
  std::uint32_t queries_per_call = 64;
  std::chrono::milliseconds deadline{10'000};      ///< of each call
  std::chrono::milliseconds connect_wait{10'000};  ///< for the node to answer at all
  rpc::TlsFiles tls;
};

struct RemoteResults {
  dataset::GroundTruth neighbors;  ///< an id of kInvalidNode: fewer than k were found
  double coverage = 1;             ///< least of all queries
};

/// Asks for every row of `queries`, call after call. Throws Error naming the node and gRPC's status
/// when a query fails.
RemoteResults search_remote(const RemoteSearchOptions& options, dataset::VectorReader& queries);

}  // namespace farvec::cli
