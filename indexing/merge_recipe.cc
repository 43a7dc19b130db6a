#include "indexing/merge_recipe.h"

#include <cstring>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/version.h"
#include "graph/vamana_merge.h"

namespace farvec::indexing {
namespace {

constexpr std::size_t kJoinRun = 4096;

void copy_row(const VectorView& from, std::size_t row, std::byte* to) {
  std::memcpy(to, from.row(row), from.row_bytes());
}

/// Rows of `former` that are not out, then all of `more`.
dataset::VectorSet join_rows(const VectorView& former, const GraphChanges& changes,
                             unsigned threads) {
  std::vector<NodeId> kept;
  kept.reserve(former.count);
  for (NodeId row = 0; row < former.count; ++row) {
    if (!changes.out.contains(row)) kept.push_back(row);
  }
  const VectorView more = changes.more.view();
  dataset::VectorSet joined(kept.size() + more.count, former.dimension, former.type);
  parallel_for(joined.count(), kJoinRun, resolve_threads(threads),
               [&](std::size_t begin, std::size_t end, unsigned) {
                 for (std::size_t i = begin; i < end; ++i) {
                   const bool stays = i < kept.size();
                   copy_row(stays ? former : more, stays ? kept[i] : i - kept.size(),
                            joined.mutable_row(i));
                 }
               });
  return joined;
}

/// Of an index that is no longer made from a file.
layout::Manifest describe_merged(layout::Manifest manifest, const dataset::VectorSet& rows,
                                 const graph::VamanaOptions& options) {
  const std::uint32_t merges = manifest.graph().build.merges;
  layout::GraphPart& part = manifest.part.emplace<layout::GraphPart>(describe_graph(options));
  part.build.merges = merges + 1;
  manifest.count = rows.count();
  manifest.dataset.file.clear();
  manifest.dataset.rows_hashed = 0;
  manifest.dataset.xxh3 = 0;
  manifest.farvec_version = version();
  manifest.farvec_commit = commit();
  return manifest;
}

}  // namespace

StoredGraph merge_graph(StoredGraph former, GraphChanges changes,
                        const graph::VamanaOptions& options, graph::VamanaStats* stats) {
  const VectorView rows = former.rows.view();
  const dataset::VectorSet& more = changes.more;
  if (more.count() > 0 && (more.type() != rows.type || more.dimension() != rows.dimension)) {
    throw Error("rows of {} x {} cannot join an index that stores {} x {}", more.dimension(),
                to_string(more.type()), rows.dimension, to_string(rows.type));
  }
  FARVEC_CHECK(changes.out.count() <= rows.count);
  if (rows.count - changes.out.count() + more.count() == 0) {
    throw Error("no row of the index remains, and none comes: there is nothing to merge");
  }
  StoredGraph merged{{}, join_rows(rows, changes, options.threads), graph::Graph(0, 1)};
  former.rows = dataset::VectorSet(0, rows.dimension, rows.type);
  changes.more = dataset::VectorSet(0, rows.dimension, rows.type);
  merged.manifest = describe_merged(std::move(former.manifest), merged.rows, options);
  merged.graph =
      graph::merge_vamana({std::move(former.graph), std::move(changes.out), merged.rows.view()},
                          merged.manifest.metric, options, stats);
  return merged;
}

}  // namespace farvec::indexing
