// ChangeOptions bound the changes that clients make through a compute node.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace farvec::compute_node {

struct ChangeOptions {
  std::uint32_t threads = 8;          ///< make changes; as many changes share a sync of the log
  std::uint32_t calls = 1024;         ///< the most changes that are under way or wait
  std::uint64_t bytes = 64ull << 20;  ///< the most bytes of these changes
  /// Names in the certificates of clients that may make changes over TLS. Callers of this machine
  /// without a certificate always may.
  std::vector<std::string> changers;
};

}  // namespace farvec::compute_node
