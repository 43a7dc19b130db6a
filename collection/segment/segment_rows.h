// SegmentRows reads single rows of a segment, for callers that ask for them by their ids.
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
#include "layout/index/second_copy.h"

namespace farvec::collection {

class OpenedRows;

/// Reads rows from the segment's file. A chunk of the file is compared with its checksum before the
/// first of its rows is read. Threads share it.
class SegmentRows {
 public:
  /// Borrows the directory, and the second copy of its rows; null: the index has them itself. It
  /// reads nothing; the first read() does.
  SegmentRows(const layout::IndexDirectory& directory, const layout::SecondCopyFile* second);
  ~SegmentRows();

  /// Reads a row in stored form; `out` has the bytes of a row, and the row must exist. The first
  /// call opens the file and reads where its records are into DRAM: offsets, or the page of each
  /// record. Where rows are in an order of their own (packed, clusters except decoupled ones), it
  /// reads all records to learn it. Where the index has fewer bits than its rows, these
  /// are read from its second copy, and each is compared with its own checksum. deadline_exceeded:
  /// what was learned until then stays, and the next call goes on from there. Throws Error naming
  /// the file.
  Status read(NodeId row, std::span<std::byte> out, Ticks deadline) const;
  /// The same where the index's records are in memory, from the header of their region on. Nothing
  /// is read from the file then, except to learn the order of rows, and rows that are no graph's.
  Status read(NodeId row, std::span<std::byte> out, std::span<const std::byte> records,
              Ticks deadline) const;

 private:
  Status open(Ticks deadline) const;

  const layout::IndexDirectory& directory_;
  const layout::SecondCopyFile* const second_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  mutable bool opening_ =
      false;                   ///< one of the threads is opening the file, and alone uses `opened_`
  mutable bool open_ = false;  ///< stays true; all threads may use `opened_`
  mutable std::unique_ptr<OpenedRows> opened_;
};

}  // namespace farvec::collection
