// Inserts into a collection and deletions from it wait for room and go through the log.
#include <algorithm>
#include <chrono>
#include <utility>

#include "collection/state/kept_rows.h"
#include "collection/write/unlocked.h"
#include "collection/write/writer.h"
#include "layout/collection/change_record.h"

namespace farvec::collection {
namespace {

/// A change that waits looks at its deadline this often.
constexpr auto kLook = std::chrono::milliseconds(20);
/// An insert that links rows of others links this many, some 0.1 ms each, before it looks again.
constexpr int kHelpedRows = 16;
/// An insert that found no row to link waits this long: other threads link those that are left.
constexpr auto kHelpPause = std::chrono::microseconds(100);
/// A refusal comes later by up to this time where the disk is slow.
constexpr double kRefusalUs = 5e6;

constexpr Status kNoRoom{StatusCode::resource_exhausted,
                         "rows come faster than segments are built: try again later"};
constexpr Status kIdComesTwice{StatusCode::invalid_argument, "an id comes twice in one batch"};
constexpr Status kNotLinked{StatusCode::resource_exhausted,
                            "rows come faster than they are linked: try again later"};

/// Returns the ids in ascending order, each once.
std::vector<std::uint64_t> different_ids(std::span<const std::uint64_t> ids) {
  std::vector<std::uint64_t> different(ids.begin(), ids.end());
  std::sort(different.begin(), different.end());
  different.erase(std::unique(different.begin(), different.end()), different.end());
  return different;
}

}  // namespace

std::size_t Writer::record_rows() const {
  return std::min<std::size_t>(
      layout::changes_per_record(packed_bytes(opened_.shape.stored_type, opened_.shape.dimension)),
      opened_.shape.options.memtable_rows);
}

bool Writer::is_about_room(const Status& refusal) {
  return refusal.message() == kNoRoom.message();
}

bool Writer::has_room(std::size_t rows) const {
  return contents_.room() >= rows || contents_.frozen() < opened_.access.most_frozen;
}

bool Writer::is_crowded(const NewRows& rows) const {
  if (!opened_.access.link || rows.unlinked == Unlinked::many) return false;
  const std::uint64_t unlinked = contents_.unlinked();
  return unlinked > 0 && unlinked + rows.count > most_unlinked_;
}

void Writer::help_linking(Lock& lock) {
  const std::vector<std::shared_ptr<Memtable>> memtables = contents_.memtables();
  int linked = 0;
  {
    const Unlocked unlocked(lock);
    LinkScratch scratch;
    for (const auto& memtable : memtables) {
      while (linked < kHelpedRows && memtable->link_next(scratch)) ++linked;
    }
  }
  if (linked == 0) monitor_.progress.wait_for(lock, kHelpPause);
}

Status Writer::wait_while_paused(Lock& lock, Ticks deadline) {
  while (paused_) {
    if (now_ticks() >= deadline || monitor_.stop.load(std::memory_order_relaxed)) return kNoRoom;
    monitor_.progress.wait_for(lock, kLook);
  }
  return {};
}

/// Waits until the newest memtable takes this many rows and few enough are not linked; both hold
/// when it returns ok. Inserts that wait for their turn link rows too.
Status Writer::make_room(Lock& lock, const Turn& turn, const NewRows& rows, Ticks deadline) {
  for (;;) {
    const bool full = !has_room(rows.count);
    if (full) end_rest();  // these rows wait for a segment
    const bool busy = paused_ || !turn.has_come() || full;
    const bool crowded = is_crowded(rows);
    if (!busy && !crowded) break;
    if (now_ticks() >= deadline || monitor_.stop.load(std::memory_order_relaxed)) {
      return busy ? kNoRoom : kNotLinked;
    }
    if (crowded) {
      help_linking(lock);
    } else {
      monitor_.progress.wait_for(lock, kLook);
    }
  }
  const std::uint64_t unlinked = contents_.unlinked() + rows.count;
  most_unlinked_ = rows.unlinked == Unlinked::many
                       ? std::max(most_unlinked_, unlinked)
                       : std::max(fewest_unlinked_, std::min(most_unlinked_, unlinked));
  // An empty memtable may be older than erases, or an import, that must not be replayed.
  if (contents_.room() < rows.count || !contents_.holds_rows()) {
    contents_.rotate(log_->end());
    monitor_.work.notify_all();
  }
  return {};
}

/// Appends a record to the log. Returns deadline_exceeded where it would have to wait for the disk.
Result<wal::Position> Writer::append(const layout::RowChangeRecord& record) {
  Result<wal::Position> end = log_->append(record.parts(), 0);
  if (!end.ok()) return said_of_log(end.status());
  if (log_is_long()) monitor_.work.notify_all();
  return end;
}

/// Logs a change once may_be_done() says ok. Waits for the disk without the lock, which others
/// need, and asks may_be_done() again after that.
Result<wal::Position> Writer::log_change(Lock& lock, Ticks deadline,
                                         const std::function<Status()>& may_be_done,
                                         const std::function<Result<wal::Position>()>& log) {
  for (;;) {
    if (Status status = may_be_done(); !status.ok()) return status;
    Result<wal::Position> end = log();
    if (end.ok() || end.status().code() != StatusCode::deadline_exceeded) return end;
    const Status room = [&] {
      const Unlocked unlocked(lock);
      return log_->wait_for_room(layout::kMostChangeBytes, deadline);
    }();
    if (!room.ok()) return said_of_log(room);
  }
}

/// Logs a change that needs no room in a memtable.
Result<wal::Position> Writer::log_unless_paused(Lock& lock, Ticks deadline,
                                                const std::function<Result<wal::Position>()>& log) {
  return log_change(
      lock, deadline, [&] { return wait_while_paused(lock, deadline); }, log);
}

/// Returns unavailable in place of resource_exhausted when a full disk has ended the log. Then it
/// makes no sense to try again: the log takes nothing until it is opened anew, and what it did not
/// write may be in the view.
Status Writer::said_of_log(const Status& status) const {
  if (status.code() != StatusCode::resource_exhausted) return status;
  const Status ended = log_->failure();
  return ended.ok() ? status : Status(StatusCode::unavailable, ended.message());
}

/// Waits until what was appended is as durable as it is to be.
Status Writer::wait_for_log(wal::Position end, Ticks deadline) const {
  return end == 0 ? Status() : said_of_log(log_->wait(end, deadline));
}

/// Returns the status of a refused call. Its earlier parts are done, and reported as done: they are
/// to be as durable as those of a call that is not refused. Where that is not known in time, the
/// status of the log is returned.
Status Writer::refused(const Status& status, wal::Position end) const {
  const Status durable = wait_for_log(end, now_ticks() + us_to_ticks(kRefusalUs));
  return durable.ok() ? status : durable;
}

/// Returns how many of the batch's first rows fit one record of the log.
std::size_t Writer::record_rows(const changes::RowBatch& batch) const {
  const std::size_t row_bytes = packed_bytes(opened_.shape.stored_type, opened_.shape.dimension);
  const std::uint32_t fit = layout::changes_per_record(row_bytes, batch.attributes);
  return std::min({batch.rows.count, record_rows(), std::size_t{fit}});
}

Status Writer::insert(const changes::RowBatch& given, Ticks deadline, changes::Receipt& receipt,
                      Unlinked unlinked) {
  const layout::Tuples tuples = layout::Tuples::copy_of(given.attributes);
  const changes::RowBatch batch{given.rows, given.ids, tuples.view()};
  changes::check_shape(batch, *view()->schema);
  wal::Position end = 0;
  Status status;
  try {
    while (status.ok() && receipt.done < batch.rows.count) {
      const changes::RowBatch rest = batch.part(receipt.done, batch.rows.count - receipt.done);
      const Result<wal::Position> inserted =
          insert_part(rest.part(0, record_rows(rest)), deadline, receipt, unlinked);
      status = inserted.status();
      if (status.ok()) end = inserted.value();
    }
  } catch (...) {
    (void)refused({}, end);
    throw;
  }
  return status.ok() ? wait_for_log(end, deadline) : refused(status, end);
}

/// Inserts the rows of one record of the log, or none of them where it is refused. The attributes
/// are the writer's own.
Result<wal::Position> Writer::insert_part(const changes::RowBatch& part, Ticks deadline,
                                          changes::Receipt& receipt, Unlinked unlinked) {
  // The caller may change rows and ids meanwhile: what is checked is what is kept.
  const dataset::VectorSet stored = kept_copy(part.rows, opened_.shape, 1);
  const std::vector<std::uint64_t> ids(part.ids.begin(), part.ids.end());
  const changes::RowBatch copy{stored.view(), ids, part.attributes};
  if (different_ids(ids).size() != ids.size()) return kIdComesTwice;
  Lock lock = this->lock();
  const Turn turn(turns_);
  const Result<wal::Position> appended = log_change(
      lock, deadline,
      [&] {
        return make_room(lock, turn, {ids.size(), unlinked}, deadline);
      },
      [&] {
        return append(
            layout::RowChangeRecord::insert(version_ + 1, ids, copy.rows, copy.attributes));
      });
  if (!appended.ok()) return appended;
  version_ += ids.size();
  receipt.version = version_;
  receipt.replaced += contents_.insert(copy, version_);
  receipt.done += ids.size();
  // More rows of a segment are out.
  if (receipt.replaced > 0) monitor_.work.notify_all();
  if (linker_) linker_->wake();
  return appended;
}

Status Writer::erase(std::span<const std::uint64_t> ids, Ticks deadline,
                     changes::Receipt& receipt) {
  const std::vector<std::uint64_t> different = different_ids(ids);
  receipt.missing += ids.size() - different.size();
  wal::Position end = 0;
  Status status;
  for (std::size_t next = 0; next < different.size();) {
    const auto part = std::span(different).subspan(
        next, std::min<std::size_t>(different.size() - next, layout::changes_per_record(0)));
    Lock lock = this->lock();
    const Result<wal::Position> appended = log_unless_paused(
        lock, deadline, [&] { return append(layout::RowChangeRecord::erase(version_ + 1, part)); });
    if (!appended.ok()) {
      status = appended.status();
      break;
    }
    end = appended.value();
    erased(part, receipt);
    next += part.size();
  }
  return status.ok() ? wait_for_log(end, deadline) : refused(status, end);
}

/// Brings an erasure that is in the log into the contents.
void Writer::erased(std::span<const std::uint64_t> ids, changes::Receipt& receipt) {
  version_ += ids.size();
  receipt.version = version_;
  const std::uint64_t found = contents_.erase(ids, version_);
  receipt.done += found;
  receipt.missing += ids.size() - found;
  monitor_.work.notify_all();
}

}  // namespace farvec::collection
