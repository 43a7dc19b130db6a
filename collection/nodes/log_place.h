// These functions open a collection's log in its place: in its folder, or on memory nodes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "collection/nodes/log_nodes.h"
#include "layout/collection/collection_manifest.h"
#include "wal/log.h"
#include "wal/log_source.h"

namespace farvec::collection {

/// Returns what readers see of the collection's log. Throws Error when `nodes` are missing,
/// UnreachableError where they are given for a log that no writer has moved there yet.
std::shared_ptr<wal::LogSource> log_source(const std::filesystem::path& folder,
                                           const layout::CollectionManifest& manifest,
                                           const LogNodes* nodes);

/// The log for its one writer: the writer first reads what is in it, then opens it to append.
class WrittenLog {
 public:
  virtual ~WrittenLog() = default;
  /// Returns what there is to read; null where the collection has no log.
  virtual std::shared_ptr<wal::LogSource> source() = 0;
  virtual std::unique_ptr<wal::Log> open(const wal::LogOptions& options) = 0;
  /// The most bytes that it may have before segments must take over what is in it.
  virtual std::uint64_t most_bytes() const = 0;
};

struct OpenedLog {
  layout::CollectionManifest manifest;
  std::unique_ptr<WrittenLog> log;
};

/// Opens the log of the collection in a folder that no other process changes. With `nodes`, the log
/// of a folder moves there first: the manifest says so from then on. Throws what log_source(),
/// LogNodes::attach_writer() and wal::recover_region_log() throw, and UnreachableError while some
/// of the nodes are away.
OpenedLog open_log(const std::filesystem::path& folder, const LogNodes* nodes);

/// The same for a collection that is opened without a log: each change is in segments, or is lost.
/// A log that lies in the folder is removed. Throws Error where it lies on memory nodes.
OpenedLog open_without_log(const std::filesystem::path& folder);

}  // namespace farvec::collection
