// From a collection's files to its contents: what opening it for changes and for reading have in
// common.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "collection/contents.h"
#include "collection/view.h"
#include "layout/collection/change_record.h"
#include "layout/collection/collection_manifest.h"
#include "wal/log_reader.h"

namespace farvec::collection {

/// What opening found in the log.
struct Recovery {
  std::uint64_t records = 0;
  std::uint64_t changes = 0;
  std::uint64_t torn_bytes = 0;  ///< of a record that was not written whole, and never acknowledged
  double seconds = 0;
};

/// Of the memtables of such a collection.
MemtableOptions memtable_options(const layout::CollectionManifest& manifest);

/// The changes of a collection's log from the manifest's position on, on their way into contents
/// that begin with the manifest's segments. A change may be in the segments already: then the row
/// is there twice for a moment, and the older one is out.
class Replay {
 public:
  Replay(const std::filesystem::path& folder, const layout::CollectionManifest& manifest,
         wal::LogTail tail);

  /// Brings in what the log has by now; with a tail that grows, again and again. Throws Error
  /// naming the log's file or the record when something is damaged, and as wal::LogReader.
  void run(Contents& contents);

  /// Of all that was brought in.
  const Recovery& recovery() const { return recovery_; }

 private:
  void apply(const wal::LogRecord& record, Contents& contents);

  const std::filesystem::path log_;
  const layout::RowShape shape_;
  wal::LogReader reader_;
  Recovery recovery_;
};

}  // namespace farvec::collection
