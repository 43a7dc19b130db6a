// A MemoryNodeSource says which index in the memory of memory nodes is served.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "compute_node/sources/regroup_options.h"

namespace farvec::compute_node {

struct MemoryNodeSource {
  std::string nodes;  ///< addresses, separated by commas
  std::string tier = "shm";
  std::uint64_t cache_bytes = 0;  ///< over all cores
  /// A node that owes reads for this long is given up, where there are several.
  std::chrono::milliseconds node_timeout{250};
  bool partial = false;    ///< searches go on without records of which no replica is left
  RegroupOptions regroup;  ///< for clusters
};

}  // namespace farvec::compute_node
