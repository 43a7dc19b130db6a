// Single rows of a segment, for those who ask for them by their ids.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>

#include "base/clock.h"
#include "base/status.h"
#include "base/types.h"
#include "layout/index/index_directory.h"

namespace farvec::collection {

class OpenedRows;

/// Reads them from the segment's file. A chunk of it is compared with its checksum before the first
/// of its rows is read. Shared by threads.
class SegmentRows {
 public:
  /// Borrows the directory. Reads nothing: that is for the first read().
  explicit SegmentRows(const layout::IndexDirectory& directory);
  ~SegmentRows();

  /// In stored form; `out` has the bytes of a row, and the row is there. The first one opens the
  /// file and reads the offsets of its records into DRAM; where rows lie in an order of their own
  /// (packed, clusters but decoupled ones), it reads all records to learn it. deadline_exceeded:
  /// what was learned until then stays, and the next one goes on from there. Throws Error naming
  /// the file.
  Status read(NodeId row, std::span<std::byte> out, Ticks deadline) const;

 private:
  Status open(Ticks deadline) const;

  const layout::IndexDirectory& directory_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  mutable bool opening_ = false;  ///< by one of the threads, which alone has `opened_`
  mutable bool open_ = false;     ///< for good: `opened_` is everybody's
  mutable std::unique_ptr<OpenedRows> opened_;
};

}  // namespace farvec::collection
