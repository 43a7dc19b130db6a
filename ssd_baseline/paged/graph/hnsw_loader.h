// An HnswLoader writes a graph in memory to the pages of an empty store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "layout/hnsw/id_map.h"
#include "ssd_baseline/paged/graph/paged_hnsw.h"

namespace farvec::paged {

/// Decides where every vertex goes, then writes one page after the other, each in one update().
class HnswLoader {
 public:
  /// All must outlive it; the store must have no pages. Throws Error when the contents contradict
  /// each other: counts differ, rows are left out or named twice, ids are repeated, or levels
  /// follow another rule.
  HnswLoader(PageStore& store, const HnswConfig& config, const HnswContents& contents);

  /// Writes the graph. The meta page says that the graph is there only when everything else is.
  /// Throws Error when the disk is full.
  void run();

 private:
  struct Page {
    std::size_t begin = 0;  ///< a place in the order of the rows
    std::uint32_t tag = 0;
  };

  std::size_t count() const { return contents_.data.count; }
  NodeId row_at(std::size_t at) const {
    return contents_.order.rows.empty() ? static_cast<NodeId>(at) : contents_.order.rows[at];
  }
  NodeId id_of(NodeId row) const { return contents_.ids.empty() ? row : contents_.ids[row]; }
  std::uint32_t level(NodeId row) const { return contents_.graph->level(row); }

  void check_rows() const;
  void sort_ids();
  void assign_places();
  void write_page(PageNumber expected, const std::function<Status(PageEditor&)>& edit);
  void write_vertices(std::size_t page);
  Status put_row(PageEditor& editor, NodeId row);
  void write_id_map();
  std::vector<std::pair<NodeId, PageNumber>> write_id_pages(
      std::span<const std::pair<NodeId, PageNumber>> below, std::uint32_t height);
  void write_meta(bool first);

  PageStore& store_;
  const HnswContents& contents_;
  layout::HnswMeta meta_;
  layout::HnswShape shape_;
  std::vector<Page> pages_;
  std::vector<layout::HnswPlace> places_;          ///< for each row
  std::vector<std::pair<NodeId, NodeId>> sorted_;  ///< pairs of id and row
  std::vector<std::byte> tuple_;
};

}  // namespace farvec::paged
