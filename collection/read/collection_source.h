// A CollectionSource tells readers what a collection is; it is the seam between its folder and
// memory nodes.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "collection/nodes/log_nodes.h"
#include "collection/segment/segment.h"
#include "collection/state/view.h"
#include "layout/collection/collection_manifest.h"
#include "wal/log_source.h"

namespace farvec::collection {

/// A CollectionSource is used by one thread at a time.
class CollectionSource {
 public:
  virtual ~CollectionSource() = default;
  virtual const std::string& name() const = 0;  ///< for messages

  /// Returns the newest manifest that can be read, and never an older one than an earlier call.
  /// Throws Error.
  virtual layout::CollectionManifest manifest() = 0;
  /// Opens the segments of the manifest that manifest() returned last, with their rows that are
  /// out; those of `known` that are among them are kept. For `on_chunk` see Segment::load(). Throws
  /// Error naming what is damaged, or missing: a writer may have replaced it.
  virtual std::vector<View::Bulk> open(const SegmentAccess& access, const View& known,
                                       const Segment::OnChunk& on_chunk) = 0;
  /// Returns what readers see of its log. Throws what log_source() throws.
  virtual std::shared_ptr<wal::LogSource> log(const LogNodes* nodes) = 0;
  /// Returns how long manifest() may still return what a writer has replaced.
  virtual std::chrono::milliseconds delay() const { return {}; }
  /// The time from one call of manifest() to the next, for followers; it depends on what calls
  /// cost.
  virtual std::chrono::milliseconds interval() const { return std::chrono::milliseconds{20}; }
};

std::shared_ptr<CollectionSource> folder_collection(const std::filesystem::path& folder);

/// Returns the collection on the memory nodes that hold its segments. One of them that can be read
/// is enough, and a folder is never used. `name` is that of the collection's folder, or its number
/// there in 16 hexadecimal digits; empty: the only one that they hold. manifest() throws
/// UnreachableError when none of the nodes has it.
std::shared_ptr<CollectionSource> nodes_collection(std::shared_ptr<const SegmentNodes> nodes,
                                                   const std::string& name);

}  // namespace farvec::collection
