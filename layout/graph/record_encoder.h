// From a built graph in local memory to the bytes of its region.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "base/memory.h"
#include "base/node_record.h"
#include "base/types.h"
#include "layout/graph/graph_layout.h"

namespace farvec::layout {

/// Writes the codes of a vertex's neighbours, all zero before, into their place in its record of
/// the inline layout: geometry.code_bytes. Called by any thread.
using NeighborCodeWriter = std::function<void(NodeId, std::span<std::byte>)>;

/// What a region of records holds; borrowed.
struct RecordContents {
  AdjacencyView graph;
  VectorView vectors;              ///< row v is of vertex v, in the stored type
  NeighborCodeWriter write_codes;  ///< of the inline layout alone
  /// Of the packed layout alone, whose lists ascend: [v] is the row in the data set of vertex v.
  std::span<const NodeId> rows;
};

/// Encodes any run of vertices by itself, so that a writer streams and threads share the work.
/// Borrows the locator and what the contents borrow.
class RecordEncoder {
 public:
  /// Throws Error when shapes disagree.
  RecordEncoder(const GraphLocator& locator, RecordContents contents);

  /// Bytes that vertices [begin, end) take, gaps included.
  std::size_t bytes_of(std::size_t begin, std::size_t end) const;

  /// Writes them to out, bytes_of(begin, end) long. Any thread.
  void encode(std::size_t begin, std::size_t end, std::span<std::byte> out) const;

 private:
  void encode_record(NodeId id, std::span<std::byte> out) const;
  void encode_packed(NodeId id, std::span<std::byte> out) const;

  const GraphLocator& locator_;
  const RecordContents contents_;
};

/// The offset table of a graph in this layout. Lists of a packed one ascend.
OffsetTable make_offset_table(const GraphGeometry& geometry, const AdjacencyView& graph);

/// The whole region in memory: header bytes left zero (not published), then the payload.
HugeBuffer encode_region(const RecordEncoder& encoder, const GraphLocator& locator,
                         unsigned threads);

}  // namespace farvec::layout
