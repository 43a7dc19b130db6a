// A Replay brings a collection's log into its contents; opening a collection for changes and for
// reading have this in common.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/row_fault.h"
#include "collection/state/contents.h"
#include "collection/state/view.h"
#include "layout/collection/change_record.h"
#include "layout/collection/collection_manifest.h"
#include "wal/log_reader.h"

namespace farvec::collection {

/// A Recovery says what opening found in the log.
struct Recovery {
  std::uint64_t records = 0;
  std::uint64_t changes = 0;
  std::uint64_t torn_bytes =
      0;  ///< bytes of a record that was not written whole, and never acknowledged
  std::uint64_t skipped = 0;  ///< changes that are missing between records
  /// Rows that have no distances to others, which an earlier farvec accepted. Their ids count as
  /// erased.
  std::uint64_t left_out = 0;
  double seconds = 0;
};

/// Changes are missing between two records of the log, or between the manifest and the first one.
/// They are those of an import, which does not come through the log: the writer appends nothing
/// before the manifest has them.
class SkippedChanges : public Error {
 public:
  SkippedChanges(std::string_view log, std::uint64_t reached, std::uint64_t next);

  std::uint64_t next_version;  ///< version of the change that cannot be brought in
};

/// Returns the options of memtables of such a collection.
MemtableOptions memtable_options(const layout::CollectionManifest& manifest);

/// Brings the changes of a collection's log, from the manifest's position on, into contents that
/// begin with the manifest's segments. A change may be in the segments already: then the row is
/// there twice for a moment, and the older one is out.
class Replay {
 public:
  /// Reads the log that `source` shows. Changes that are missing before `accepted` are known to be
  /// in no manifest: they are of an import whose manifest could not be written.
  Replay(const layout::CollectionManifest& manifest, std::shared_ptr<wal::LogSource> source,
         wal::LogTail tail, std::uint64_t accepted);

  /// Brings in what the log had when this object was made, and with a tail that grows perhaps more,
  /// but it ends however fast a writer appends. Throws Error naming the log's file or the record
  /// when something is damaged, SkippedChanges, and what wal::LogReader throws.
  void run(Contents& contents);
  /// With a tail that grows: brings in what the log has gained, record by record until its end.
  /// Returns false when `until` comes before. Throws what run() throws.
  bool run_on(Contents& contents, Ticks until);

  /// Returns what was found in all that was brought in.
  const Recovery& recovery() const { return recovery_; }

 private:
  bool next(Contents& contents);
  void apply(const wal::LogRecord& record, Contents& contents);
  void require_order(std::uint64_t first_version);
  void insert(const layout::RowChanges& changes, wal::Position begin, Contents& contents);
  void leave_out(const layout::RowChanges& changes, const FaultyRow& faulty, Contents& contents);

  const std::string log_;  ///< for messages
  const layout::StoredShape shape_;
  const Metric metric_;
  wal::LogReader reader_;
  const std::uint64_t accepted_;
  std::uint64_t reached_;  ///< the highest version of all changes that are in
  Recovery recovery_;
};

}  // namespace farvec::collection
