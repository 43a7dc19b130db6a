// GatheredVectors are copies of vectors that selections compare with each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ssd_baseline/paged/graph/page_source.h"

namespace farvec::paged {

/// GatheredVectors belong to one fiber, and grow to the size of the largest selection.
class GatheredVectors {
 public:
  struct Entry {
    graph::Handle handle = graph::kNoHandle;
    std::uint32_t row = 0;
    NodeId id = 0;
    bool marked = false;
  };

  explicit GatheredVectors(VertexReader& reader) : reader_(reader) {}

  void clear() {
    entries_.clear();
    rows_.clear();
  }

  /// To be called inside a fiber: reads the vectors that are not here yet, and leaves out handles
  /// at which there is no vertex any more.
  Status gather(std::span<const graph::Handle> handles, Ticks deadline, FetchCounts& counts);

  /// Returns nullptr when there was no vertex.
  const Entry* find(graph::Handle handle) const;
  /// The pointer is valid until the next gather().
  const std::byte* vector(const Entry& entry) const { return &rows_[entry.row * vector_bytes()]; }

  std::size_t dram_bytes() const {
    return entries_.capacity() * sizeof(Entry) + rows_.capacity() +
           wanted_.capacity() * sizeof(graph::Handle);
  }

 private:
  std::size_t vector_bytes() const { return reader_.hnsw().shape().vector_bytes(); }

  VertexReader& reader_;
  std::vector<Entry> entries_;  ///< sorted by handle
  std::vector<std::byte> rows_;
  std::vector<graph::Handle> wanted_;
};

}  // namespace farvec::paged
