#include "indexing/joined_rows.h"

#include <cstring>
#include <vector>

#include "base/check.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/version.h"

namespace farvec::indexing {
namespace {

constexpr std::size_t kJoinRun = 4096;

void copy_row(const VectorView& from, std::size_t row, std::byte* to) {
  std::memcpy(to, from.row(row), from.row_bytes());
}

void require_joinable(const VectorView& former, const IndexChanges& changes) {
  const dataset::VectorSet& more = changes.more;
  if (more.count() > 0 && (more.type() != former.type || more.dimension() != former.dimension)) {
    throw Error("rows of {} x {} cannot join an index that stores {} x {}", more.dimension(),
                to_string(more.type()), former.dimension, to_string(former.type));
  }
  FARVEC_CHECK(changes.out.count() <= former.count);
  if (former.count - changes.out.count() + more.count() == 0) {
    throw Error("no row of the index remains, and none comes: there is nothing to merge");
  }
}

}  // namespace

dataset::VectorSet join_rows(const VectorView& former, const IndexChanges& changes,
                             unsigned threads) {
  require_joinable(former, changes);
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

layout::Manifest described_without_file(layout::Manifest manifest, std::size_t rows) {
  manifest.count = rows;
  manifest.dataset.file.clear();
  manifest.dataset.rows_hashed = 0;
  manifest.dataset.xxh3 = 0;
  manifest.farvec_version = version();
  manifest.farvec_commit = commit();
  return manifest;
}

}  // namespace farvec::indexing
