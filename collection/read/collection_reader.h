// A CollectionReader reads a collection's files at one moment, for searches beside the process that
// changes it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "collection/nodes/log_nodes.h"
#include "collection/read/collection_source.h"
#include "collection/segment/segment.h"
#include "collection/state/contents.h"
#include "collection/state/replay.h"
#include "layout/collection/collection_manifest.h"
#include "wal/log_reader.h"

namespace farvec::collection {

/// A Reading says how a CollectionReader reads.
struct Reading {
  enum class Records : std::uint8_t { load, leave };

  Records records = Records::load;  ///< `leave`: the first search brings the records
  wal::LogTail tail = wal::LogTail::final;
  ViewPointer known = nullptr;  ///< an earlier view of the collection, whose segments are kept
  /// The place of the log; null: in the folder.
  std::shared_ptr<const LogNodes> log_nodes = nullptr;
  Segment::OnChunk on_chunk = {};  ///< for the segments that are loaded
};

/// Reads the segments and the log up to its end, all of which are in view(). Later changes of
/// segments are not seen; those that come through the log are seen after read_on().
class CollectionReader {
 public:
  /// Changes nothing in the folder. When a writer replaces segments meanwhile it begins anew, a few
  /// times. Throws Error naming the file when something is damaged, and SkippedChanges when the
  /// manifest that was found is older than an import after which the log goes on.
  CollectionReader(const std::filesystem::path& folder, const SegmentAccess& access,
                   const Reading& reading = {})
      : CollectionReader(*folder_collection(folder), access, reading) {}
  /// Does the same for a collection that is found in `source`.
  CollectionReader(CollectionSource& source, const SegmentAccess& access,
                   const Reading& reading = {});

  const layout::CollectionManifest& shape() const { return manifest_; }
  const Recovery& recovery() const { return log_->recovery(); }
  ViewPointer view() const { return contents_->current(); }
  /// With a tail that grows: brings what the log has gained into the view. False when it was not
  /// read to its end because `until` had come. Throws what Replay::run() throws; SkippedChanges
  /// when rows were imported since, which no log has: another reader has them. It is for one thread
  /// at a time.
  bool read_on(Ticks until) { return log_->run_on(*contents_, until); }
  /// Returns the memtables, for linking their rows. It is for the thread that calls read_on().
  std::vector<std::shared_ptr<Memtable>> memtables() const { return contents_->memtables(); }
  /// Makes graphs of memtables that are large enough for them.
  void link(unsigned threads);

 private:
  layout::CollectionManifest manifest_;
  std::unique_ptr<Contents> contents_;
  std::optional<Replay> log_;
};

}  // namespace farvec::collection
