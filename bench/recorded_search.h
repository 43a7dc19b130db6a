// Searches of an HNSW graph in memory that write down what they look at, for counts without a disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/status.h"
#include "base/types.h"
#include "distance/distance.h"
#include "graph/hnsw/hnsw_graph.h"
#include "graph/hnsw/layer_search.h"

namespace farvec {

/// What a search of `ef` candidates looks at. Borrows graph and rows.
class RecordedSearch {
 public:
  /// A vertex that was expanded, or its neighbours that had not been looked at.
  using Batches = std::vector<std::vector<NodeId>>;

  RecordedSearch(const graph::HnswGraph& graph, const VectorView& data, Metric metric,
                 std::uint32_t ef)
      : graph_(graph),
        ef_(ef),
        source_{graph, data, distance::pair_kernel(metric, data.type, data.dimension)} {}

  /// In the order in which the search looks at them. `query` is of the type of the rows.
  Batches run(const std::byte* query) {
    source_.query = query;
    source_.batches.clear();
    Status status = graph::enter(source_, graph_.top(), graph_.entry(), scratch_);
    if (status.ok()) status = graph::descend(source_, graph_.top(), 0, scratch_);
    if (status.ok()) status = graph::layer_search(source_, {0, ef_}, scratch_);
    if (!status.ok()) throw Error("search of a graph in memory: {}", status.message());
    return std::exchange(source_.batches, {});
  }

 private:
  struct Source {
    const graph::HnswGraph& graph;
    const VectorView& data;
    distance::PairKernel pair;
    const std::byte* query = nullptr;
    Batches batches = {};

    Status neighbors(graph::Handle vertex, std::uint32_t layer, std::vector<graph::Handle>& out) {
      const auto row = graph.neighbors(static_cast<NodeId>(vertex), layer);
      out.assign(row.begin(), row.end());
      batches.push_back({static_cast<NodeId>(vertex)});
      return {};
    }
    template <typename Visit>
    Status score(std::uint32_t, std::span<const graph::Handle> handles, Visit&& visit) {
      batches.emplace_back(handles.begin(), handles.end());
      for (const graph::Handle handle : handles) {
        const auto v = static_cast<NodeId>(handle);
        visit(graph::Scored{{pair(query, data.row(v), data.dimension), v, handle}, false});
      }
      return {};
    }
  };

  const graph::HnswGraph& graph_;
  const std::uint32_t ef_;
  Source source_;
  graph::LayerScratch scratch_;
};

}  // namespace farvec
