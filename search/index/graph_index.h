// A GraphIndex is what a compute node keeps of a graph index in its own DRAM: codes, offsets, and
// facts from the manifest. The records stay on the tier.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "base/types.h"
#include "distance/distance.h"
#include "layout/graph/codes_region.h"
#include "layout/graph/graph_layout.h"
#include "quantization/neighbor_codes.h"
#include "quantization/rabitq.h"
#include "search/index/row_vertices.h"

namespace farvec::search {

/// It is immutable after construction, except for what row_vertices() learns, and shared by all
/// cores.
class GraphIndex {
 public:
  struct Parts {
    Metric metric = Metric::l2;
    ElementType type = ElementType::f32;  ///< stored type
    std::uint32_t dimension = 0;
    NodeId entry = kInvalidNode;
    layout::GraphLocator locator;
    /// For codes of the vertices, in local DRAM; or for codes of the neighbours, in the records.
    std::variant<quantization::Rabitq, quantization::NeighborCodes> quantizer;
    /// One code per vertex; or the vectors of entries().
    layout::Codes codes;
  };
  /// Throws Error when the parts do not fit together.
  explicit GraphIndex(Parts parts);

  Metric metric() const { return parts_.metric; }
  ElementType type() const { return parts_.type; }
  std::uint32_t dimension() const { return parts_.dimension; }
  std::size_t count() const { return parts_.locator.geometry().count; }
  std::uint32_t max_degree() const { return parts_.locator.geometry().max_degree; }
  /// Where searches start: the manifest's entry, from which all vertices are reachable, and a few
  /// more vertices, whose codes or vectors every search keeps in the cache. They save the first
  /// hops.
  std::span<const NodeId> entries() const { return entries_; }
  std::size_t query_bytes() const { return packed_bytes(type(), dimension()); }
  const layout::GraphLocator& locator() const { return parts_.locator; }
  /// Returns null when the codes are in the records.
  const quantization::Rabitq* vertex_codes() const {
    return std::get_if<quantization::Rabitq>(&parts_.quantizer);
  }
  /// Returns null when the codes are not in the records.
  const quantization::NeighborCodes* neighbor_codes() const {
    return std::get_if<quantization::NeighborCodes>(&parts_.quantizer);
  }
  /// Returns the codes for vertex_codes().
  const std::byte* codes() const { return local_; }
  /// Returns, for neighbor_codes(), the stored vector of entries()[i].
  const std::byte* entry_vector(std::size_t i) const { return local_ + i * query_bytes(); }
  distance::PairKernel kernel() const { return kernel_; }
  /// Returns null where each vertex has the number of its row.
  RowVertices* row_vertices() const { return row_vertices_.get(); }

  std::uint64_t region_bytes() const { return parts_.locator.region_bytes(); }
  std::size_t location_bytes() const { return parts_.locator.dram_bytes(); }
  /// Returns the bytes of codes and offset table, and of the vertices of rows once a search has
  /// asked for them; the statistics of each core say what it adds.
  std::size_t dram_bytes() const {
    return parts_.codes.region.size() + location_bytes() +
           (row_vertices_ != nullptr ? row_vertices_->dram_bytes() : 0);
  }

 private:
  Parts parts_;
  std::vector<NodeId> entries_;
  const std::byte* local_ = nullptr;  ///< in parts_.codes
  distance::PairKernel kernel_;
  std::unique_ptr<RowVertices> row_vertices_;
};

}  // namespace farvec::search
