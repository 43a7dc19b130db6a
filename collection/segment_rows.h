// Single rows of a segment, for those who ask for them by their ids.
#pragma once

#include <atomic>
#include <cstddef>
#include <span>
#include <vector>

#include "base/input_file.h"
#include "base/types.h"
#include "layout/graph/graph_layout.h"
#include "layout/region/index_directory.h"

namespace farvec::collection {

/// Reads them from the segment's file. A chunk of it is compared with its checksum before the first
/// of its rows is read. Shared by threads.
class SegmentRows {
 public:
  /// Borrows the directory. Keeps the file open, and the offsets of its records in DRAM; where
  /// vertices have numbers of their own (packed), it reads all records once to learn them. Throws
  /// Error naming the file.
  explicit SegmentRows(const layout::IndexDirectory& directory);

  /// In stored form; `out` has the bytes of a row, and the row is there. Throws Error naming the
  /// file.
  void read(NodeId row, std::span<std::byte> out) const;

 private:
  void learn_vertices(const layout::IndexDirectory& directory);
  void check_chunks_of(const layout::Extent& extent) const;

  const layout::RegionEntry& entry_;
  const layout::GraphLocator locator_;
  const InputFile file_;
  std::vector<NodeId> vertex_of_;  ///< [row]; empty: each is its row's number
  /// Relaxed: a chunk that two threads check at once is checked twice.
  mutable std::vector<std::atomic<bool>> checked_;
};

}  // namespace farvec::collection
