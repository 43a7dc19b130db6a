// OpenedRows reads the rows of a segment's file, for one kind of index. It is for segment_rows.cc.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/clock.h"
#include "base/status.h"
#include "base/types.h"
#include "layout/index/index_directory.h"
#include "layout/index/second_copy.h"

namespace farvec::collection {

/// It reads what SegmentRows::read() returns. Throws Error naming the file.
class OpenedRows {
 public:
  virtual ~OpenedRows() = default;
  /// Must be called by one thread, before any read(). It may be called again after
  /// deadline_exceeded.
  virtual Status learn(Ticks deadline) = 0;
  virtual Status read(NodeId row, std::span<std::byte> out, Ticks deadline) const = 0;
  /// Copies the row out of the region of all records, in memory from its header on. Returns false
  /// where that cannot be: read() is for it then.
  virtual bool copy(NodeId row, std::span<std::byte> out, std::span<const std::byte> region) const {
    (void)row, (void)out, (void)region;
    return false;
  }
};

/// These borrow the directory, which is that of a graph in records, of one in slotted pages, or of
/// clusters.
std::unique_ptr<OpenedRows> open_graph_rows(const layout::IndexDirectory& directory);
std::unique_ptr<OpenedRows> open_page_rows(const layout::IndexDirectory& directory);
std::unique_ptr<OpenedRows> open_cluster_rows(const layout::IndexDirectory& directory);

/// Borrows the second copy of the rows of any index.
std::unique_ptr<OpenedRows> open_whole_rows(const layout::SecondCopyFile& file);

Status rows_are_too_late();

}  // namespace farvec::collection
