// These functions make a segment from parts of a view, which it replaces.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "base/progress.h"
#include "changes/row_batch.h"
#include "collection/build/build_watch.h"
#include "collection/nodes/probing_nodes.h"
#include "collection/segment/segment.h"
#include "collection/segment/segment_access.h"
#include "collection/segment/segment_publisher.h"
#include "collection/state/contents.h"
#include "collection/state/view.h"
#include "layout/collection/collection_manifest.h"

namespace farvec::collection {

/// A SegmentRecipe says how a segment is made, and where.
struct SegmentRecipe {
  std::filesystem::path folder;  ///< the segment's folder; it must not exist
  std::uint64_t number = 0;
  std::string name;                            ///< the collection's name, for the index's manifest
  const layout::CollectionManifest* manifest;  ///< types and options; not null
  /// The columns of the rows, older rows' among the first of them. Not null.
  std::shared_ptr<const layout::Schema> schema;
  SegmentAccess access;
  SegmentPublisher* publisher = nullptr;  ///< null: segments are on a tier of this process
  /// The nodes whose probes count too when clusters are merged; null: there are none.
  std::shared_ptr<const ProbingNodes> followers;
  unsigned threads = 1;
  /// Links rows of which a graph is built from nothing by integers of 8 bits, where these will do.
  bool rounds_rows = false;
  /// Ends the work with WorkInterrupted, says how fast it may read and write, and is told how far
  /// it is. It is not null.
  BuildWatch* watch = nullptr;
  /// Ends the work too, until the segment has been written.
  Interruption give_up = {};

  /// Says whether the work is to end soon.
  bool interrupted() const { return watch->interrupted() || asked_to_end(give_up); }
};

/// Makes a segment of rows of the source type, whose attributes were checked, from nothing. It is
/// durable and published when this returns, and its files stay until the caller discards it
/// (Manifests). Throws Error; then there is no folder.
std::shared_ptr<Segment> build_segment(const changes::RowBatch& batch, const SegmentRecipe& recipe);

/// Makes a segment of the live rows of the one memtable that `part` has, which takes no more rows.
/// It links the rows that are not linked yet, and then the memtable's graph becomes the segment's,
/// pruned by graph::merge_vamana(). Everything else is the same as for the function above.
Replacement build_segment(const ViewPointer& part, Memtable& memtable, const SegmentRecipe& recipe);

/// Makes a segment of the live rows of all segments of `part`: the rows of the others are inserted
/// into the largest one, and its own rows that are out are repaired. It behaves like
/// build_segment(). Memory: rows and graph of all segments, two times the rows while they are
/// joined.
Replacement merge_segments(const ViewPointer& part, const SegmentRecipe& recipe);

}  // namespace farvec::collection
