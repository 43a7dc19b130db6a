#include "indexing/stored_graph.h"

#include <cstring>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/parallel.h"
#include "indexing/stored_pages.h"
#include "layout/graph/record_reader.h"

namespace farvec::indexing {
namespace {

constexpr std::size_t kRecordRun = 1024;

/// Returns the row of each vertex v at [v]; empty where it is v.
std::vector<NodeId> rows_of(const layout::GraphLocator& locator,
                            std::span<const std::byte> region) {
  if (locator.geometry().kind != layout::LayoutKind::packed) return {};
  const std::size_t count = locator.geometry().count;
  layout::RecordReader records(locator, region);
  std::vector<NodeId> rows(count);
  std::vector<bool> taken(count);
  for (std::size_t v = 0; v < count; ++v) {
    rows[v] = records.read(static_cast<NodeId>(v)).row;
    if (taken[rows[v]]) throw Error("two vertices, one of them {}, are of row {}", v, rows[v]);
    taken[rows[v]] = true;
  }
  return rows;
}

/// Puts vertices into a graph that is numbered in the way the rows are. There is one reader per
/// thread.
class GraphReader {
 public:
  GraphReader(layout::RecordReader records, std::span<const NodeId> rows, StoredGraph& out)
      : records_(std::move(records)), rows_(rows), out_(out) {}

  void read(NodeId id) {
    const NodeRecord record = records_.read(id);
    neighbors_.clear();
    for (std::uint32_t i = 0; i < record.degree; ++i) {
      const NodeId neighbor = record.neighbor(i);
      if (neighbor >= out_.graph.count()) {
        throw Error("vertex {} points to {}, which does not exist", id, neighbor);
      }
      neighbors_.push_back(row_of(neighbor));
    }
    out_.graph.set_neighbors(row_of(id), neighbors_);
    std::memcpy(out_.rows.mutable_row(row_of(id)), record.vector, out_.rows.view().row_bytes());
  }

 private:
  NodeId row_of(NodeId v) const { return rows_.empty() ? v : rows_[v]; }

  layout::RecordReader records_;
  const std::span<const NodeId> rows_;
  StoredGraph& out_;
  std::vector<NodeId> neighbors_;
};

/// Returns the manifest of a graph that is not written in a layout yet.
layout::Manifest without_layout(layout::Manifest manifest) {
  manifest.graph().neighbor_code_bytes = 0;
  manifest.graph().list_bytes = 0;
  if (!manifest.is_slotted()) return manifest;
  manifest.graph().layout = layout::LayoutKind::csr;
  manifest.graph().block_bytes = layout::GraphDescription().block_bytes;
  manifest.graph().slotted.reset();
  return manifest;
}

/// Fills in rows and graph of an index in records.
void read_records(const layout::IndexDirectory& directory, const layout::LoadOptions& options,
                  StoredGraph& out) {
  const layout::GraphLocator locator = directory.load_locator(options);
  const HugeBuffer region = directory.load_region(layout::kRecordsRegion, options);
  const std::vector<NodeId> rows = rows_of(locator, region.span());
  if (!rows.empty()) out.graph.entry = rows[out.graph.entry];
  parallel_for(out.graph.count(), kRecordRun, resolve_threads(options.threads),
               [&](std::size_t begin, std::size_t end, unsigned) {
                 GraphReader reader({locator, region.span()}, rows, out);
                 for (std::size_t v = begin; v < end; ++v) reader.read(static_cast<NodeId>(v));
               });
}

}  // namespace

BuiltGraph StoredGraph::built() && {
  return {{std::move(manifest), rows.view()}, std::move(graph), {}};
}

StoredGraph read_graph(const layout::IndexDirectory& directory,
                       const layout::LoadOptions& options) {
  const layout::Manifest& manifest = directory.manifest();
  if (!manifest.is_graph()) {
    throw Error("{} is no graph: its layout is {}", directory.path().string(),
                manifest.layout_name());
  }
  StoredGraph stored{without_layout(unwritten(manifest)),
                     dataset::VectorSet(manifest.count, manifest.dimension, manifest.stored_type),
                     graph::Graph(manifest.count, manifest.graph().max_degree)};
  stored.graph.entry = manifest.graph().entry;
  if (manifest.is_slotted()) {
    read_pages(directory, options, stored);
  } else {
    read_records(directory, options, stored);
  }
  return stored;
}

}  // namespace farvec::indexing
