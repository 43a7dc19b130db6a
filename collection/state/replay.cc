#include "collection/state/replay.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace farvec::collection {
namespace {

/// Some of the record's rows, all of them without fault.
struct Run {
  const layout::RowChanges& changes;
  std::size_t begin;
  std::size_t end;
};

void insert_run(const Run& run, wal::Position log_begin, Contents& contents) {
  const changes::RowBatch all{run.changes.rows, run.changes.ids, run.changes.attributes()};
  for (std::size_t next = run.begin; next < run.end;) {
    if (contents.room() == 0) contents.rotate(log_begin);
    const std::size_t count = std::min<std::size_t>(run.end - next, contents.room());
    contents.insert(all.part(next, count), run.changes.last_version());
    next += count;
  }
}

/// Up to this many rows are named in the log.
constexpr std::uint64_t kNamedRows = 16;

}  // namespace

MemtableOptions memtable_options(const layout::CollectionManifest& manifest) {
  MemtableOptions options;
  options.metric = manifest.metric;
  options.type = manifest.stored_type;
  options.dimension = manifest.dimension;
  options.capacity = manifest.options.memtable_rows;
  options.attributes = !manifest.schema.empty();
  return options;
}

SkippedChanges::SkippedChanges(std::string_view log, std::uint64_t reached, std::uint64_t next)
    : Error(
          "the log '{}' goes on with change {} and the segments that were found hold those up to "
          "{}: rows were imported in between, which newer segments have",
          log, next, reached),
      next_version(next) {}

Replay::Replay(const layout::CollectionManifest& manifest, std::shared_ptr<wal::LogSource> source,
               wal::LogTail tail, std::uint64_t accepted)
    : log_(source->name()),
      shape_{manifest.stored_type, manifest.dimension, manifest.schema},
      metric_(manifest.metric),
      reader_(std::move(source), manifest.log_position, tail),
      accepted_(accepted),
      reached_(manifest.last_version) {}

void Replay::run(Contents& contents) {
  const auto start = std::chrono::steady_clock::now();
  while (reader_.end() < reader_.reach() && next(contents)) {
  }
  recovery_.torn_bytes = reader_.torn_bytes();
  recovery_.seconds +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

bool Replay::run_on(Contents& contents, Ticks until) {
  while (next(contents)) {
    if (now_ticks() >= until) return false;
  }
  return true;
}

/// False where the log ends for now.
bool Replay::next(Contents& contents) {
  const std::optional<wal::LogRecord> record = reader_.next();
  if (record) apply(*record, contents);
  return record.has_value();
}

/// Versions have no gaps. Older ones are those of changes that the segments have too.
void Replay::require_order(std::uint64_t first_version) {
  if (first_version - 1 <= reached_) return;
  if (first_version > accepted_) throw SkippedChanges(log_, reached_, first_version);
  recovery_.skipped += first_version - 1 - reached_;
}

/// A row that segments cannot hold, or that no search can find, must not stop other rows. The row
/// that it replaced does not come back.
void Replay::leave_out(const layout::RowChanges& changes, const FaultyRow& faulty,
                       Contents& contents) {
  const std::uint64_t id = changes.ids[faulty.row];
  contents.erase(std::span(&id, 1), changes.last_version());
  if (recovery_.left_out++ >= kNamedRows) return;
  spdlog::warn("the log '{}': the row of id {} {}: it is left out, and the id is not there", log_,
               id, to_string(faulty.fault));
}

void Replay::insert(const layout::RowChanges& changes, wal::Position begin, Contents& contents) {
  const std::size_t count = changes.ids.size();
  for (std::size_t next = 0; next < count;) {
    const auto faulty = find_faulty_row(changes.rows.part(next, count - next), metric_);
    const std::size_t end = faulty ? next + faulty->row : count;
    insert_run({changes, next, end}, begin, contents);
    if (faulty) leave_out(changes, {end, faulty->fault}, contents);
    next = end + 1;
  }
}

void Replay::apply(const wal::LogRecord& record, Contents& contents) {
  const layout::RowChanges changes = layout::decode_row_changes(
      record.bytes, shape_, fmt::format("the log '{}' at position {}", log_, record.begin));
  require_order(changes.version);
  switch (changes.kind) {
    case layout::RowChangeKind::insert:
    case layout::RowChangeKind::attributed_insert:
      insert(changes, record.begin, contents);
      break;
    case layout::RowChangeKind::erase:
      contents.erase(changes.ids, changes.last_version());
      break;
    case layout::RowChangeKind::update:
      contents.update(changes.ids, changes.attributes(), changes.last_version());
      break;
  }
  reached_ = std::max(reached_, changes.last_version());
  ++recovery_.records;
  recovery_.changes += changes.ids.size();
}

}  // namespace farvec::collection
