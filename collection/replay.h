// From a collection's files to its contents: what opening it for changes and for reading have in
// common.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
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
  /// Of the log that `source` shows.
  Replay(const layout::CollectionManifest& manifest, std::shared_ptr<wal::LogSource> source,
         wal::LogTail tail);

  /// Brings in what the log had when this was made. With a tail that grows perhaps more, but it
  /// ends however fast somebody appends. Throws Error naming the log's file or the record when
  /// something is damaged, and as wal::LogReader.
  void run(Contents& contents);
  /// With a tail that grows: what the log has gained, record by record until its end, or, with
  /// false, until `until` has come. Throws as run().
  bool run_on(Contents& contents, Ticks until);

  /// Of all that was brought in.
  const Recovery& recovery() const { return recovery_; }

 private:
  bool next(Contents& contents);
  void apply(const wal::LogRecord& record, Contents& contents);

  const std::string log_;  ///< for messages
  const layout::RowShape shape_;
  wal::LogReader reader_;
  Recovery recovery_;
};

}  // namespace farvec::collection
