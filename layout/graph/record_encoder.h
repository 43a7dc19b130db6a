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

/// Encodes any run of vertices by itself, so that a writer streams and threads share the work.
/// Borrows everything it is given.
class RecordEncoder {
 public:
  /// `vectors` holds row v of the graph in its stored type; `write_codes` is for the inline layout
  /// alone. Throws Error when shapes disagree.
  RecordEncoder(const GraphLocator& locator, const AdjacencyView& graph, const VectorView& vectors,
                NeighborCodeWriter write_codes = {});

  /// Bytes that vertices [begin, end) take, gaps included.
  std::size_t bytes_of(std::size_t begin, std::size_t end) const;

  /// Writes them to out, bytes_of(begin, end) long. Any thread.
  void encode(std::size_t begin, std::size_t end, std::span<std::byte> out) const;

 private:
  void encode_record(NodeId id, std::span<std::byte> out) const;

  const GraphLocator& locator_;
  const AdjacencyView graph_;
  const VectorView vectors_;
  const NeighborCodeWriter write_codes_;
};

/// The offset table of a graph.
OffsetTable make_offset_table(const AdjacencyView& graph);

/// The whole region in memory: header bytes left zero (not published), then the payload.
HugeBuffer encode_region(const RecordEncoder& encoder, const GraphLocator& locator,
                         unsigned threads);

}  // namespace farvec::layout
