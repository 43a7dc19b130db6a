// Lays a graph in memory out on the pages of an empty store.
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

/// Works out where every vertex lies, then writes one page after the other, each in one update().
class HnswLoader {
 public:
  /// All must outlive it; the store has no pages. Throws Error when the contents contradict each
  /// other: other counts, rows left out or named twice, ids twice, levels of another rule.
  HnswLoader(PageStore& store, const HnswConfig& config, const HnswContents& contents);

  /// Throws Error when the disk is full. The meta page says that the graph is there when all else
  /// is.
  void run();

 private:
  struct Page {
    std::size_t begin = 0;  ///< in the order of the rows
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
  std::vector<layout::HnswPlace> places_;          ///< of rows
  std::vector<std::pair<NodeId, NodeId>> sorted_;  ///< id, row
  std::vector<std::byte> tuple_;
};

}  // namespace farvec::paged
