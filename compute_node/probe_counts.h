// How often each cluster of an index was probed: what a layout can be grouped by.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "base/types.h"
#include "layout/manifest.h"

namespace farvec::compute_node {

/// Shared by all cores that search one index.
class ProbeCounts {
 public:
  explicit ProbeCounts(std::uint32_t clusters) : counts_(clusters) {}

  /// Any thread.
  void add(ClusterId cluster) {
    // relaxed: a counter on its own.
    counts_[cluster].fetch_add(1, std::memory_order_relaxed);
  }
  /// Any thread.
  std::vector<std::uint64_t> snapshot() const;

 private:
  std::vector<std::atomic<std::uint64_t>> counts_;
};

/// A JSON object with the counts and which clustering they belong to. The file is replaced when it
/// is complete. Throws Error.
void write_probe_counts(const std::string& path, const layout::Manifest& manifest,
                        const std::vector<std::uint64_t>& counts);

/// Throws Error, naming the file, when it is not such an object or of another clustering than the
/// manifest's; all layouts and groupings of one clustering share its counts.
std::vector<std::uint64_t> read_probe_counts(const std::string& path,
                                             const layout::Manifest& manifest);

}  // namespace farvec::compute_node
