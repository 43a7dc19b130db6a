// A PagePlan says which records share a page: ssd_baseline/packing makes it, layout encodes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/node_record.h"
#include "base/types.h"
#include "layout/pages/slotted_geometry.h"

namespace farvec::layout {

/// RecordCosts are the bytes that every vertex takes of a page. Only layout knows how they come
/// about.
struct RecordCosts {
  std::vector<std::uint16_t> bytes;  ///< bytes[v]: record and slot of vertex v
  std::uint32_t page_capacity = 0;   ///< bytes of a page that records and slots share

  std::size_t count() const { return bytes.size(); }
};

/// Computes the costs of all vertices. Throws Error when a record does not fit a page, naming the
/// page size that would do.
RecordCosts record_costs(const SlottedGeometry& geometry, const AdjacencyView& graph,
                         unsigned threads);

/// Page p holds ids[begins[p], begins[p + 1]), in any order; every vertex is in one page.
struct PagePlan {
  std::vector<std::uint64_t> begins{0};  ///< pages() + 1 values
  std::vector<NodeId> ids;
  /// colors[i] is the color of ids[i]. Records of a page with the same color are affine; 0 is no
  /// color. Empty: all are 0.
  std::vector<std::uint8_t> colors;

  std::size_t pages() const { return begins.size() - 1; }
  std::span<const NodeId> page(std::size_t p) const {
    return std::span(ids).subspan(begins[p], begins[p + 1] - begins[p]);
  }
};

/// Fills pages with the vertices in this order, each page as far as records fit.
PagePlan plan_in_order(std::span<const NodeId> order, const RecordCosts& costs);

/// Returns the page of every vertex. Throws Error unless every vertex is in exactly one page and no
/// page holds more than fits.
std::vector<std::uint32_t> pages_of(const PagePlan& plan, const RecordCosts& costs);

/// OR(G) of Starling: the mean over all vertices u of the share of the other records in u's page
/// that are u's neighbours; 0 for a record that is alone in its page.
double page_overlap(const PagePlan& plan, const AdjacencyView& graph);

}  // namespace farvec::layout
