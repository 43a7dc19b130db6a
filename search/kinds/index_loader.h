// Brings what a compute node keeps of an index into local DRAM, from a directory or a memory node.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "layout/index/index_directory.h"
#include "search/index/search_index.h"
#include "transport/endpoint.h"

namespace farvec::search {

/// Reads codes and offsets, or centroids and the table of clusters, from an index directory,
/// checking every checksum; the attributes of its rows, where there are some; and what its second
/// copy is, where it has one. Throws Error.
SearchIndex load_search_index(const layout::IndexDirectory& directory,
                              const layout::LoadOptions& options = {});

struct FetchOptions {
  double deadline_seconds = 60;             ///< for everything, plus
  double least_bytes_per_second = 50e6;     ///< the time that the bytes take at this rate
  const std::atomic<bool>* stop = nullptr;  ///< ends it soon after it becomes true; may be null
  /// Called with the number of bytes that have come; may be empty. What it throws ends the fetch.
  std::function<void(std::uint64_t bytes)> on_bytes = {};
};

/// Reads the same regions through an endpoint in large pieces, checking every checksum of the
/// manifest. Call it outside fibers, before searches begin. Throws Error when a read fails or the
/// deadline passes.
SearchIndex fetch_search_index(const layout::Manifest& manifest, transport::Endpoint& endpoint,
                               const FetchOptions& options = {});

/// Returns the graph over the centroids, as the build made it.
graph::Graph centroid_graph(const layout::Centroids& centroids);

/// Throws Error when the placement splits bytes that one read brings.
void check_placement(const layout::Placement& placement, const SearchIndex& index);

}  // namespace farvec::search
