// A Collection is a changing set of vectors with ids that the user chooses: it keeps fresh rows in
// memtables and a log, and the rest in segments.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include "base/status.h"
#include "base/types.h"
#include "changes/changing.h"
#include "collection/build/build_watch.h"
#include "collection/nodes/log_place.h"
#include "collection/state/replay.h"
#include "collection/write/background.h"
#include "collection/write/collection_access.h"
#include "collection/write/manifests.h"
#include "collection/write/writer.h"
#include "layout/collection/collection_manifest.h"
#include "layout/collection/option_bounds.h"
#include "layout/index/directory_lock.h"
#include "wal/log.h"

namespace farvec::collection {

using changes::FoundRows;
using changes::Receipt;

/// Says what a writer has besides its view.
struct WriterState {
  std::uint64_t log_bytes = 0;
  wal::LogCopies log_copies;                 ///< on memory nodes
  std::uint64_t segment_copies_missing = 0;  ///< on memory nodes, by the last look at them
  std::uint64_t built = 0;                   ///< segments built since it was opened
  std::uint64_t merged = 0;                  ///< segments that took the place of others
  std::uint64_t written_bytes = 0;  ///< since it was opened: the log's records and whole segments
  std::uint64_t failures = 0;       ///< failures of the background since it was opened
  BuildProgress merge;              ///< the merge that is under way
  BuildProgress build;              ///< the memtable that becomes a segment
  BuildProgress import;             ///< rows that become a segment at once; the last such call
  /// Why the log takes no more changes, or else why a segment could not be built, merged or saved
  /// that is to be, or which segment is on too few memory nodes; empty: nothing fails.
  std::string failure;
};

/// Changes and reads a collection. One process changes it; its threads may call everything at any
/// time. What a call has done is in the next view() and is durable as `durability` says.
class Collection final : public changes::Changing {
 public:
  /// Makes an empty collection. Throws Error when the folder is there and not empty, and
  /// StatusError (invalid_argument) naming, in the spelling of `spell`, an option that makes no
  /// sense; then nothing is left of it. `log_segment_bytes` are those of the log's first segment,
  /// as CollectionAccess has them of later ones; 0: it has none, and is to be opened without one.
  static void create(const std::filesystem::path& folder, layout::CollectionManifest manifest,
                     const layout::SpellOption& spell = layout::as_it_is,
                     std::uint64_t log_segment_bytes = wal::LogOptions{}.segment_bytes);

  /// Opens it for changes and brings it to where it was: opens the segments, then replays the log.
  /// Throws Error when another process has it open, and naming the file when something is damaged.
  Collection(const std::filesystem::path& folder, const CollectionAccess& access);
  /// Stops the background at once. What is fresh stays in the log.
  ~Collection() override;
  Collection(const Collection&) = delete;
  Collection& operator=(const Collection&) = delete;

  /// Returns the manifest with which it was opened; row_shape() has the present schema.
  const layout::CollectionManifest& shape() const { return opened_.shape; }
  const Recovery& recovery() const { return writer_.recovery(); }
  ViewPointer view() const { return writer_.view(); }
  WriterState state() const;
  /// Returns why the last segment of a memtable could not be made or saved; empty: it could. It is
  /// why inserts wait for room, where they do.
  std::string build_failure() const;
  /// Says whether a full disk is why.
  bool build_lacks_disk() const;

  changes::RowShape row_shape() const override;
  nlohmann::ordered_json now() const override;
  /// Returns the number of rows up to which an insert is in as a whole or not at all.
  std::size_t record_rows() const { return writer_.record_rows(); }
  /// Throws Error when the rows have another type or dimension than the source, and when an id
  /// comes twice. Throws StatusError (invalid_argument) when there are more or fewer ids than rows,
  /// for attributes that do not fit the schema, and naming the first row that holds NaN or infinity
  /// or is too long (kMostSquaredLength).
  void check(const changes::RowBatch& batch) const override;
  /// Inserts rows of the source type that check() accepts, and replaces those whose ids are there.
  /// Rows and ids are copied and the copies are checked again, since another thread of the caller
  /// may change them: throws Refusal (invalid_argument) for a row, numbered from `done` on. Waits
  /// for room while segments are built, and, in a process that searches, links rows itself while
  /// too many are not linked; throws Refusal (resource_exhausted) when the time is over first.
  /// Callers are served in the order in which they came, whatever they bring. When it throws, the
  /// first `done` rows are in; unavailable means that the log has ended, and that these rows may
  /// not have reached it. A batch of up to record_rows(), which are up to 1 MiB and fit a memtable,
  /// is in as a whole or not at all, also after a kill; with attributes it is fewer rows.
  void insert(const changes::RowBatch& batch, const changes::Patience& patience,
              Receipt& receipt) override;
  /// Does what insert() does for rows that come many together: they do not wait until others are
  /// linked. Memtables may be full of rows without links then, and searches compare with each of
  /// them. Later inserts add none to these until fewer are left.
  void insert_unlinked(const changes::RowBatch& batch, const changes::Patience& patience,
                       Receipt& receipt);
  /// Inserts many rows without the log and the memtables: all become one segment, which is durable
  /// when this returns. Throws Error; then none of the rows is in. If only the manifest could not
  /// be written, all are in, and are durable once a later manifest is. Throws FullDisk where a disk
  /// has no room, and WorkInterrupted where `give_up` ended the work, which it can until the
  /// segment has been written.
  Receipt import(const changes::RowBatch& batch, const Interruption& give_up = {}) {
    return background_.import(batch, give_up);
  }
  /// Takes a copy of an index that stands by itself in as a segment, with its attributes; row r
  /// gets the id first_id + r. Throws what import() throws, and what copy_segment() throws.
  Receipt import_index(const std::filesystem::path& index, std::uint64_t first_id,
                       const Interruption& give_up = {}) {
    return background_.import_index(index, first_id, give_up);
  }
  /// Removes the rows with these ids. Ids that are not there are counted as missing, and so are
  /// those that come again in one call.
  void erase(std::span<const std::uint64_t> ids, const changes::Patience& patience,
             Receipt& receipt) override;
  void erase_matching(const std::string& filter, const changes::Patience& patience,
                      Receipt& receipt) override;
  /// Reads the attributes of rows of segments from their files. Rows are updated in parts: a call
  /// that throws has updated `done` of them.
  void update(std::span<const std::uint64_t> ids, const changes::ColumnValues& update,
              const changes::Patience& patience, Receipt& receipt) override;
  void update_matching(const std::string& filter, const changes::ColumnValues& update,
                       const changes::Patience& patience, Receipt& receipt) override;
  changes::ListedRows list(const changes::Listing& asked,
                           const changes::Patience& patience) const override;
  /// The columns are durable when this returns. Throws StatusError (invalid_argument) for columns
  /// that the schema cannot have, and Error naming the file where it cannot be written.
  void add_columns(const layout::Schema& columns) override;

  /// Reads rows of segments, and their attributes, from their files: throws Refusal
  /// (deadline_exceeded) when its time is over, and Error naming the file of a row that cannot be
  /// read or is damaged. Looks at the interruption between rows.
  FoundRows get(std::span<const std::uint64_t> ids,
                const changes::Patience& patience) const override;

  /// Makes all changes durable that were done before, whatever the durability. Throws Refusal where
  /// the log has ended, or the patience.
  void make_durable(const changes::Patience& patience);

  /// Has the background rest until then at least: it links no rows, begins no segment, and goes on
  /// with none. It is for many rows of insert_unlinked() that are searched only when all have come.
  /// A rest ends for good when memtables have no room for all of them, when a call waits for the
  /// background, and with end_rest(). CollectionAccess::rest_us begins it.
  void rest(Ticks until) { writer_.rest().put_off(until); }
  void end_rest();
  /// Has what is fresh become a segment, on all threads that build, and waits for nothing. Does
  /// nothing where as many memtables as may are waiting.
  void freeze_soon() { background_.freeze_soon(); }
  /// Has the manifest say soon which rows were erased. It is for a collection without a log.
  void save_soon() { background_.save_soon(); }

  /// Brings all that was inserted before into segments; it is there when this returns true. Waits
  /// for no merge. Throws Error when it fails.
  bool flush(const Interruption& give_up = {}) override { return background_.flush(give_up); }
  /// Does what flush() does, and merges all segments of that moment into one, without the rows that
  /// are out.
  bool compact(const Interruption& give_up = {}) override { return background_.compact(give_up); }
  /// Waits until the background has nothing to do. Throws Error when something fails there.
  void settle() { background_.settle(); }

 private:
  void done(Receipt& receipt, const std::function<Status(Receipt&)>& change);
  void require_done(const Status& status) const;
  std::string reason(const Status& status) const;

  const std::filesystem::path folder_;
  const layout::DirectoryLock directory_lock_;
  const OpenedLog log_;
  const OpenedCollection opened_;
  Manifests manifests_;
  Writer writer_;
  Background background_;  ///< comes last: its threads use all others
};

}  // namespace farvec::collection
