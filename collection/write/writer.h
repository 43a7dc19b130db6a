// A Writer brings changes into a collection that is open: it has the log, the contents and the
// version of the last change.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "attributes/condition.h"
#include "base/clock.h"
#include "base/progress.h"
#include "base/status.h"
#include "base/types.h"
#include "changes/changing.h"
#include "changes/receipt.h"
#include "collection/memtable/memtable_linker.h"
#include "collection/memtable/rest.h"
#include "collection/nodes/log_place.h"
#include "collection/state/contents.h"
#include "collection/state/matching_rows.h"
#include "collection/state/replay.h"
#include "collection/write/collection_access.h"
#include "collection/write/manifests.h"
#include "collection/write/monitor.h"
#include "collection/write/turns.h"
#include "layout/collection/change_record.h"
#include "wal/log.h"

namespace farvec::collection {

/// NewValues were checked, and are the writer's own.
struct NewValues {
  std::vector<std::size_t> columns;
  layout::Tuples tuples;  ///< a tuple of these columns for each row, or one for all
};

/// Any thread may call insert(), erase(), update(), find(), view() and log(). The other functions
/// are for the background and for the collection's state; a caller of these holds lock().
class Writer {
 public:
  using Lock = std::unique_lock<std::mutex>;

  /// Opens the segments, then replays the log and opens it for appending. Borrows the collection
  /// and its manifests. Throws Error naming what is damaged.
  Writer(const OpenedCollection& opened, Manifests& manifests, WrittenLog& log);
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  const Recovery& recovery() const { return recovery_; }
  ViewPointer view() const { return contents_.current(); }
  const wal::Log& log() const { return *log_; }
  /// Makes durable what was appended, whatever the durability; any thread may call it.
  Status make_durable(Ticks deadline) { return log_->flush(log_->end(), deadline); }
  /// Returns the bytes of records that were written since the log was opened.
  std::uint64_t logged_bytes() const {
    return opened_.access.logged ? log_->end() - opened_at_ : 0;
  }

  /// Returns the number of rows up to which an insert is in as a whole or not at all.
  std::size_t record_rows() const;
  enum class Unlinked : std::uint8_t { few, many };  ///< see Collection::insert_unlinked()
  /// Do what Collection says of them. They return why they refuse; `receipt` is about what is in.
  /// Both may wait, and throw where there is no memory, insert() also for a row that is faulty.
  Status insert(const changes::RowBatch& given, Ticks deadline, changes::Receipt& receipt,
                Unlinked unlinked = Unlinked::few);
  Status erase(std::span<const std::uint64_t> ids, Ticks deadline, changes::Receipt& receipt);
  Status erase(const attributes::Condition& condition, const changes::Patience& patience,
               changes::Receipt& receipt);
  /// Give rows new values in some of their columns. They throw StatusError (invalid_argument) for a
  /// row whose attributes become too large, and Error naming the file of those that cannot be read.
  Status update(std::span<const std::uint64_t> ids, const NewValues& values,
                const changes::Patience& patience, changes::Receipt& receipt);
  Status update(const attributes::Condition& condition, const NewValues& values,
                const changes::Patience& patience, changes::Receipt& receipt);
  /// Adds columns to the schema. Throws what check_columns() throws, and Error where the manifest
  /// cannot be written; then the schema is as it was, and a manifest that has the new one although
  /// the disk did not say so does not matter: no row has a value in its columns.
  void add_columns(const layout::Schema& columns);
  /// Says whether a refusal means that memtables wait for segments, or a change for an import.
  static bool is_about_room(const Status& refusal);

  struct Found {
    ViewPointer view;
    std::vector<std::optional<Contents::RowLocation>> locations;  ///< for every id
  };
  /// Finds ids, all at one moment. Throws WorkInterrupted.
  Found find(std::span<const std::uint64_t> ids, const Interruption& interrupted) const;

  Lock lock() const { return Lock(monitor_.mutex); }
  Monitor& monitor() const { return monitor_; }
  const Contents& contents() const { return contents_; }
  /// While it lasts, rows are not linked, and no segment is made.
  Rest& rest() { return rest_; }
  void end_rest();
  std::uint64_t version() const { return version_; }
  bool log_is_long() const { return manifests_.is_long(log_->end()); }

  /// Says whether freeze() would leave no more memtables than may wait for their segments.
  bool may_freeze() const;
  /// Makes the rows of the newest memtable wait for their segment.
  void freeze();
  void replace(const Replacement& replacement) { contents_.replace(replacement); }
  /// Adds a segment of new rows, and returns how many rows went out for them.
  std::uint64_t add(std::shared_ptr<Segment> segment);
  /// Changes wait from pause() until resume(): the log would put them before an import.
  void pause() { paused_ = true; }
  void resume();
  /// Saves the contents; see Manifests::save().
  void save(Lock& lock) { manifests_.save(lock, contents_, *log_); }

 private:
  /// How far a change of many rows has come.
  struct RowsChange {
    const changes::Patience& patience;
    changes::Receipt& receipt;
    Status status = {};
    wal::Position end = 0;  ///< where the last record ends
    /// Ids whose rows were no longer where they were found, or not as they were.
    std::vector<std::uint64_t> moved = {};

    void end_when_late() {
      if (!status.ok() || now_ticks() < patience.until) return;
      status = {StatusCode::deadline_exceeded,
                "the time is over, and rows are left: try again with more time"};
    }
  };
  using ChangePart = std::function<void(const MatchingRows&, RowsChange&)>;
  /// Rows for which an insert needs room.
  struct NewRows {
    std::size_t count;
    Unlinked unlinked;
  };
  /// A row that is to be updated, as it was found.
  struct UpdatedRow {
    std::uint64_t id = 0;
    RowPlace place = {};
    std::size_t value = 0;  ///< the number of its tuple of NewValues
  };

  std::vector<std::shared_ptr<Memtable>> memtables() const;
  Status ended(RowsChange& change, const std::function<void()>& work) const;
  void change_matching(const attributes::Condition& condition, RowsChange& change,
                       const ChangePart& change_part);
  void erase_part(const MatchingRows& part, RowsChange& change);
  void update_part(const MatchingRows& part, const NewValues& values, RowsChange& change);
  void update_ids(std::vector<UpdatedRow> rows, const NewValues& values, RowsChange& change);
  std::vector<UpdatedRow> find_rows(std::span<const UpdatedRow> wanted, RowsChange& change,
                                    ViewPointer& view) const;
  void update_rows(std::span<const UpdatedRow> rows, const NewValues& values, RowsChange& change);
  void note_unchanged(RowsChange& change);
  void log_update(std::span<const UpdatedRow> rows, const layout::TupleView& tuples,
                  RowsChange& change);
  void erased(std::span<const std::uint64_t> ids, changes::Receipt& receipt);
  Status wait_while_paused(Lock& lock, Ticks deadline);
  Status make_room(Lock& lock, const Turn& turn, const NewRows& rows, Ticks deadline);
  bool has_room(std::size_t rows) const;
  bool is_crowded(const NewRows& rows) const;
  void help_linking(Lock& lock);
  Result<wal::Position> append(const layout::RowChangeRecord& record);
  Result<wal::Position> log_change(Lock& lock, Ticks deadline,
                                   const std::function<Status()>& may_be_done,
                                   const std::function<Result<wal::Position>()>& log);
  Result<wal::Position> log_unless_paused(Lock& lock, Ticks deadline,
                                          const std::function<Result<wal::Position>()>& log);
  Status said_of_log(const Status& status) const;
  Status wait_for_log(wal::Position end, Ticks deadline) const;
  Status refused(const Status& status, wal::Position end) const;
  std::size_t record_rows(const changes::RowBatch& batch) const;
  Result<wal::Position> insert_part(const changes::RowBatch& part, Ticks deadline,
                                    changes::Receipt& receipt, Unlinked unlinked);

  const OpenedCollection& opened_;
  Manifests& manifests_;
  std::mutex adding_columns_;       ///< one call at a time; it is locked before the monitor's mutex
  mutable Monitor monitor_;         ///< guards the members below, but recovery_ and log_
  Turns turns_{monitor_.progress};  ///< the order of inserts
  Rest rest_;
  Contents contents_;
  Recovery recovery_;
  std::unique_ptr<wal::Log> log_;
  wal::Position opened_at_ = 0;
  std::uint64_t version_ = 0;
  const std::uint64_t fewest_unlinked_;  ///< this many may wait, however slow the linking is
  /// Higher where opening found more, or many came together; else it only falls.
  std::uint64_t most_unlinked_ = 0;
  bool paused_ = false;
  std::optional<MemtableLinker> linker_;
};

}  // namespace farvec::collection
