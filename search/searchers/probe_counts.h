// Counts how often each cluster of an index was probed: a layout can be grouped by these counts.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "base/types.h"
#include "layout/index/manifest.h"

namespace farvec::search {

/// Counts, and the clustering to which they belong: all its layouts and groupings share them.
struct ProbeTally {
  std::string dataset;
  std::uint64_t centroids_xxh3 = 0;   ///< tells one clustering from another
  std::vector<std::uint64_t> counts;  ///< one per cluster
};

/// It is shared by all cores that search one index.
class ProbeCounts {
 public:
  /// Throws Error when the manifest does not describe a cluster index.
  explicit ProbeCounts(const layout::Manifest& manifest);

  /// Any thread may call it.
  void add(ClusterId cluster) {
    // relaxed: a counter on its own.
    counts_[cluster].fetch_add(1, std::memory_order_relaxed);
  }
  /// Adds counts as if they had been counted here. Any thread. Throws Error when there are not as
  /// many as clusters.
  void add(const std::vector<std::uint64_t>& counts);
  /// Any thread may call it.
  ProbeTally tally() const;

 private:
  const std::string dataset_;
  const std::uint64_t centroids_xxh3_;
  std::vector<std::atomic<std::uint64_t>> counts_;
};

/// Adds what compute node `whose` has counted to `sum`. Throws Error, naming the node, when the
/// clusters are not the same.
void add_probes(const ProbeTally& more, const std::string& whose, ProbeTally& sum);

/// Writes a JSON object with the counts and the clustering to which they belong. An existing file
/// is replaced when the new one is complete. Throws Error.
void write_probe_counts(const std::string& path, const ProbeTally& tally);

/// Reads such a file. Throws Error, naming the file, when it is not such an object or belongs to
/// another clustering than the manifest's.
std::vector<std::uint64_t> read_probe_counts(const std::string& path,
                                             const layout::Manifest& manifest);

}  // namespace farvec::search
