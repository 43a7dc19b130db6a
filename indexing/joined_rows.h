// IndexChanges say what changes in an index that is merged; join_rows() makes the rows of the next
// one.
#pragma once

#include "base/row_set.h"
#include "base/types.h"
#include "dataset/vector_set.h"
#include "layout/index/manifest.h"

namespace farvec::indexing {

struct IndexChanges {
  RowSet out;               ///< rows of the stored index that go
  dataset::VectorSet more;  ///< rows that come, in stored form; may be none
};

/// Returns the rows of `former` that stay, in their order, and after them those that come. Throws
/// Error when these have another type or dimension, and when no row remains.
dataset::VectorSet join_rows(const VectorView& former, const IndexChanges& changes,
                             unsigned threads);

/// Returns the manifest of an index of `rows` rows that is no longer made from a file. It names
/// this farvec.
layout::Manifest described_without_file(layout::Manifest manifest, std::size_t rows);

}  // namespace farvec::indexing
