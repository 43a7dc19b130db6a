// A CollectionAccess says how a process opens a collection for changes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "collection/nodes/log_nodes.h"
#include "collection/nodes/probing_nodes.h"
#include "collection/segment/segment_access.h"
#include "collection/segment/segment_publisher.h"
#include "layout/collection/collection_manifest.h"
#include "wal/log.h"

namespace farvec::collection {

struct CollectionAccess {
  SegmentAccess segments;
  /// Where the log lies, or moves to; null: it lies in the folder.
  std::shared_ptr<const LogNodes> log_nodes = nullptr;
  /// Compute nodes that follow the collection: when segments of clusters are merged, what those
  /// nodes have probed also decides the groups. Null: only what this process has probed does.
  std::shared_ptr<const ProbingNodes> followers = nullptr;
  wal::Durability durability = wal::Durability::commit;
  double interval_us = 10'000;
  /// What the log allocates on the disk at a time. It bounds the bytes of a record.
  std::uint64_t log_segment_bytes = wal::LogOptions{}.segment_bytes;
  unsigned build_threads = 1;  ///< build segments in the background; 0: one per processor
  /// Threads that merge segments, beside those that build; 0: one per processor.
  unsigned merge_threads = 1;
  /// The most that merges read and write together in a second; 0: as much as they can.
  double merge_bytes_per_s = 0;
  /// The most live rows of segments that are merged together, which are in memory meanwhile; 0: any
  /// number. A segment of which much is out is written anew, however large it is.
  std::uint64_t most_merged_rows = 0;
  /// Links the rows of an import by integers of 8 bits, where these will do.
  bool rounds_imports = false;
  bool link = false;  ///< link memtables in the background: for processes that search
  bool merge = true;  ///< merge segments in the background
  /// How long the background rests from opening on, see Collection::rest(); 0: it does not.
  double rest_us = 0;
  /// False: it has no log. What no segment has is lost with the process, and so are the rows that
  /// were replaced by it: it is for an owner that knows which rows there should be, and tells those
  /// that are missing again.
  bool logged = true;
  /// The most fresh rows that are not linked, where memtables are linked: an insert that would
  /// exceed it links rows first. A batch of more rows than this goes in when all others are linked.
  /// 0: the number of rows that are compared in the time of a search of a memtable's graph, see
  /// kUnlinkedList.
  std::uint32_t most_unlinked = 0;
  std::uint32_t most_frozen = 2;  ///< memtables that wait to become segments; 1 or more
  /// The most bytes of the log that opening has to read. When the log is longer, what is fresh
  /// becomes a segment, however small.
  std::uint64_t most_log_bytes = std::uint64_t{1} << 30;
};

/// An OpenedCollection is what all parts of an open collection know of it. It never changes.
struct OpenedCollection {
  std::filesystem::path folder;
  /// Types and options. Its other members are those that it was opened with.
  layout::CollectionManifest shape;
  CollectionAccess access;
  /// Brings segments to their memory nodes; null: they are on a tier of this process.
  std::shared_ptr<SegmentPublisher> publisher = nullptr;
};

}  // namespace farvec::collection
