#include "collection/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace farvec::collection {
namespace {

void insert(const layout::RowChanges& changes, wal::Position begin, Contents& contents) {
  const std::span<const std::uint64_t> ids(changes.ids);
  for (std::size_t next = 0; next < ids.size();) {
    if (contents.room() == 0) contents.rotate(begin);
    VectorView part = changes.rows;
    part.data = part.row(next);
    part.count = std::min<std::size_t>(ids.size() - next, contents.room());
    contents.insert(part, ids.subspan(next, part.count), changes.last_version());
    next += part.count;
  }
}

}  // namespace

MemtableOptions memtable_options(const layout::CollectionManifest& manifest) {
  MemtableOptions options;
  options.metric = manifest.metric;
  options.type = manifest.stored_type;
  options.dimension = manifest.dimension;
  options.capacity = manifest.options.memtable_rows;
  return options;
}

Replay::Replay(const std::filesystem::path& folder, const layout::CollectionManifest& manifest,
               wal::LogTail tail)
    : log_(folder / layout::kCollectionLogFolder),
      shape_{manifest.stored_type, manifest.dimension},
      reader_(log_, manifest.log_position, tail) {}

void Replay::run(Contents& contents) {
  const auto start = std::chrono::steady_clock::now();
  while (const std::optional<wal::LogRecord> record = reader_.next()) apply(*record, contents);
  recovery_.torn_bytes = reader_.torn_bytes();
  recovery_.seconds +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void Replay::apply(const wal::LogRecord& record, Contents& contents) {
  const layout::RowChanges changes = layout::decode_row_changes(
      record.bytes, shape_,
      fmt::format("the log '{}' at position {}", log_.string(), record.begin));
  if (changes.kind == layout::RowChangeKind::insert) {
    insert(changes, record.begin, contents);
  } else {
    contents.erase(changes.ids, changes.last_version());
  }
  ++recovery_.records;
  recovery_.changes += changes.ids.size();
}

}  // namespace farvec::collection
