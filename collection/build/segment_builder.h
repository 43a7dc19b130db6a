// From parts of a view to the segment that takes their place.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "collection/build/build_watch.h"
#include "collection/nodes/probing_nodes.h"
#include "collection/segment/segment.h"
#include "collection/state/contents.h"
#include "collection/state/view.h"
#include "layout/collection/collection_manifest.h"

namespace farvec::collection {

/// How a segment is made, and where.
struct SegmentRecipe {
  std::filesystem::path folder;  ///< of the segment; there must be none
  std::uint64_t number = 0;
  std::string name;                            ///< of the collection, for the index's manifest
  const layout::CollectionManifest* manifest;  ///< types and options; not null
  SegmentAccess access;
  /// Whose probes count too when clusters are merged; null: there are none.
  std::shared_ptr<const ProbingNodes> followers;
  unsigned threads = 1;
  /// Ends the work with WorkInterrupted, says how fast it may read and write, and is told
  /// how far it is; not null.
  BuildWatch* watch = nullptr;
};

/// Rows of the source type, as a graph built from nothing. Durable and published when it returns,
/// and gone with the last one who holds it unless Segment::keep() is called. Throws Error; then no
/// folder is left.
std::shared_ptr<Segment> build_segment(const VectorView& rows, std::span<const std::uint64_t> ids,
                                       const SegmentRecipe& recipe);

/// The live rows of the one memtable that `part` has, which takes no more rows: links those that
/// are left, and then its own graph is the segment's, pruned as graph::merge_vamana() does.
/// Otherwise the same.
Replacement build_segment(const ViewPointer& part, Memtable& memtable, const SegmentRecipe& recipe);

/// The live rows of all segments of `part`: their largest with the rows of the others inserted and
/// its own that are out repaired. As build_segment(). Memory: rows and graph of all of them, two
/// times the rows while they are joined.
Replacement merge_segments(const ViewPointer& part, const SegmentRecipe& recipe);

}  // namespace farvec::collection
