// Where readers find what a collection is: the seam between its folder and memory nodes.
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

/// Used by one thread at a time.
class CollectionSource {
 public:
  virtual ~CollectionSource() = default;
  virtual const std::string& name() const = 0;  ///< for messages

  /// The newest that can be read, and none before what an earlier call returned. Throws Error.
  virtual layout::CollectionManifest manifest() = 0;
  /// The segments of what manifest() returned last, those of `known` that are among them as they
  /// are, and what is out of them. `on_chunk` as Segment::load() has it. Throws Error naming what
  /// is damaged, or missing: a writer may have replaced it.
  virtual std::vector<View::Bulk> open(const SegmentAccess& access, const View& known,
                                       const Segment::OnChunk& on_chunk) = 0;
  /// What readers see of its log. Throws as log_source().
  virtual std::shared_ptr<wal::LogSource> log(const LogNodes* nodes) = 0;
  /// How long manifest() may still return what a writer has replaced.
  virtual std::chrono::milliseconds delay() const { return {}; }
  /// From one call of manifest() to the next, for who follows: what calls cost.
  virtual std::chrono::milliseconds interval() const { return std::chrono::milliseconds{20}; }
};

std::shared_ptr<CollectionSource> folder_collection(const std::filesystem::path& folder);

/// On the memory nodes that hold its segments, of which one that can be read is enough, and never
/// in a folder. `name` is that of the collection's folder, or its number there in 16 hexadecimal
/// digits; empty: the only one that they hold. manifest() throws UnreachableError when none
/// of them has it.
std::shared_ptr<CollectionSource> nodes_collection(std::shared_ptr<const SegmentNodes> nodes,
                                                   const std::string& name);

}  // namespace farvec::collection
