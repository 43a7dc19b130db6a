#include "device/numa_memory.h"

#include <numa.h>
#include <numaif.h>

#include <cerrno>
#include <string>

#include "base/error.h"
#include "base/status_error.h"

namespace farvec::device {
namespace {

/// The nodes that have memory, "0, 1, 4".
std::string nodes_with_memory() {
  std::string names;
  for (int node = 0; node <= numa_max_node(); ++node) {
    if (numa_node_size64(node, nullptr) <= 0) continue;
    if (!names.empty()) names += ", ";
    names += std::to_string(node);
  }
  return names;
}

}  // namespace

HugeBuffer numa_buffer(std::uint32_t node, std::uint64_t bytes) {
  if (numa_available() < 0)
    throw StatusError(StatusCode::invalid_argument, "this kernel knows no NUMA nodes");
  long long free = 0;
  const bool known = node <= static_cast<std::uint32_t>(numa_max_node());
  if (!known || numa_node_size64(static_cast<int>(node), &free) <= 0) {
    throw StatusError(StatusCode::invalid_argument,
                      "there is no NUMA node {} with memory; those that have some: {}", node,
                      nodes_with_memory());
  }
  if (free < 0 || bytes > static_cast<std::uint64_t>(free)) {
    throw StatusError(StatusCode::resource_exhausted,
                      "NUMA node {} has {} bytes left, {} are needed", node, free, bytes);
  }
  HugeBuffer buffer(bytes);
  bitmask* const nodes = numa_allocate_nodemask();
  numa_bitmask_setbit(nodes, node);
  // No page has been touched yet, so all pages will come from that node.
  const long bound =
      mbind(buffer.data(), buffer.size(), MPOL_BIND, nodes->maskp, nodes->size + 1, 0);
  const int error = errno;
  numa_free_nodemask(nodes);
  if (bound != 0) throw SystemError(error, "binding {} bytes to NUMA node {}", bytes, node);
  return buffer;
}

}  // namespace farvec::device
