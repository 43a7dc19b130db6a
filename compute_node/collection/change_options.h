// ChangeOptions are what the command line says of a collection's changes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace farvec::compute_node {

struct ChangeOptions {
  std::string durability = "commit";  ///< a word that wal::parse_durability() takes
  std::uint32_t threads = 8;          ///< make changes; as many changes share a sync of the log
  std::uint32_t calls = 1024;         ///< the most changes that are under way or wait
  std::uint64_t bytes = 64ull << 20;  ///< the most bytes of these changes
  std::uint32_t build_threads = 1;    ///< build segments in the background
  std::uint32_t merge_threads = 1;    ///< merge segments beside them; 0: one per processor
  /// Names in the certificates of clients that may change the collection over TLS. Callers of this
  /// machine without a certificate always may.
  std::vector<std::string> changers;
  std::string followers;  ///< compute nodes, separated by commas; see collection::ProbingNodes
  std::uint64_t merge_bytes_per_s = 256ull << 20;  ///< read and written by merges; 0: no bound
};

}  // namespace farvec::compute_node
