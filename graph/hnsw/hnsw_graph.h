// An HnswGraph is an HNSW graph in local memory: builds make it, and it is laid out on pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/check.h"
#include "graph/graph.h"

namespace farvec::graph {

/// Vertices are rows of a data set; a vertex of level l is on layers 0 to l. Rows of neighbours may
/// be written by different threads.
class HnswGraph {
 public:
  /// A vertex has up to `capacity` neighbours at layer 0, and half of that (rounded up) on each
  /// layer above.
  HnswGraph(std::vector<std::uint8_t> levels, std::uint32_t capacity)
      : levels_(std::move(levels)),
        upper_begins_(upper_begins(levels_)),
        base_(levels_.size(), capacity),
        upper_(upper_begins_.back(), (capacity + 1) / 2) {}

  std::size_t count() const { return levels_.size(); }
  std::uint32_t level(NodeId v) const { return levels_[v]; }

  /// Where searches begin, a vertex of the highest level; kInvalidNode without vertices.
  NodeId entry() const { return base_.entry; }
  void set_entry(NodeId v) { base_.entry = v; }
  std::uint32_t top() const { return entry() == kInvalidNode ? 0 : level(entry()); }

  /// `layer` is at most level(v).
  std::span<const NodeId> neighbors(NodeId v, std::uint32_t layer) const {
    return layer == 0 ? base_.neighbors(v) : upper_.neighbors(upper_row(v, layer));
  }
  void set_neighbors(NodeId v, std::uint32_t layer, std::span<const NodeId> ids) {
    if (layer == 0) return base_.set_neighbors(v, ids);
    upper_.set_neighbors(upper_row(v, layer), ids);
  }
  std::uint32_t capacity(std::uint32_t layer) const {
    return layer == 0 ? base_.row_capacity() : upper_.row_capacity();
  }

  /// Returns layer 0, which has the entry.
  Graph& base() { return base_; }
  const Graph& base() const { return base_; }

 private:
  static std::vector<std::size_t> upper_begins(const std::vector<std::uint8_t>& levels) {
    std::vector<std::size_t> begins(levels.size() + 1, 0);
    for (std::size_t v = 0; v < levels.size(); ++v) begins[v + 1] = begins[v] + levels[v];
    return begins;
  }
  std::size_t upper_row(NodeId v, std::uint32_t layer) const {
    FARVEC_CHECK(layer <= levels_[v], "vertex {} is not on layer {}", v, layer);
    return upper_begins_[v] + layer - 1;
  }

  std::vector<std::uint8_t> levels_;
  std::vector<std::size_t> upper_begins_;
  Graph base_;
  Graph upper_;
};

}  // namespace farvec::graph
