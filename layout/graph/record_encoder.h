// A RecordEncoder turns a built graph in local memory into the bytes of its region.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "base/memory.h"
#include "base/node_record.h"
#include "base/types.h"
#include "layout/graph/graph_layout.h"

namespace farvec::layout {

/// Writes the codes of a vertex's neighbours into their place in its record of the inline layout,
/// geometry.code_bytes that are zero before. Any thread may call it.
using NeighborCodeWriter = std::function<void(NodeId, std::span<std::byte>)>;

/// RecordContents are the contents of a region of records; borrowed.
struct RecordContents {
  AdjacencyView graph;
  VectorView vectors;              ///< row v belongs to vertex v, in the stored type
  NeighborCodeWriter write_codes;  ///< for the inline layout only
  /// For the packed layout only, whose lists ascend: rows[v] is the row of vertex v in the data
  /// set.
  std::span<const NodeId> rows;
};

/// Encodes any run of vertices by itself, so that a writer streams and threads share the work.
/// Borrows the locator and what the contents borrow.
class RecordEncoder {
 public:
  /// Throws Error when shapes disagree.
  RecordEncoder(const GraphLocator& locator, RecordContents contents);

  /// Returns the bytes that vertices [begin, end) take, gaps included.
  std::size_t bytes_of(std::size_t begin, std::size_t end) const;

  /// Writes the bytes of these vertices to `out`, bytes_of(begin, end) long. Any thread.
  void encode(std::size_t begin, std::size_t end, std::span<std::byte> out) const;

 private:
  void encode_record(NodeId id, std::span<std::byte> out) const;
  void encode_packed(NodeId id, std::span<std::byte> out) const;

  const GraphLocator& locator_;
  const RecordContents contents_;
};

/// Returns the offset table of a graph in this layout. Lists of a packed graph ascend.
OffsetTable make_offset_table(const GraphGeometry& geometry, const AdjacencyView& graph);

/// Encodes the whole region in memory: header bytes are left zero (not published), then the
/// payload.
HugeBuffer encode_region(const RecordEncoder& encoder, const GraphLocator& locator,
                         unsigned threads);

}  // namespace farvec::layout
