// A Source holds what every index is made of: vectors in the form in which the index stores them,
// and what a manifest says of them.
#pragma once

#include <string>

#include "base/types.h"
#include "dataset/vector_set.h"
#include "layout/index/manifest.h"

namespace farvec::indexing {

/// A DatasetFile says where the vectors come from. The file is not read.
struct DatasetFile {
  std::string path;
  std::string name;  ///< the data set's name in reports; empty: the file's folder or its stem
};

/// A Source holds rows and their manifest. The rows are borrowed and must outlive the build of the
/// index.
struct Source {
  layout::Manifest manifest;  ///< made by describe_source()
  VectorView rows;            ///< stored type
};

/// Returns a manifest with all that follows from the data set, the metric and this farvec. `source`
/// are the rows before stored_rows().
layout::Manifest describe_source(const DatasetFile& file, const VectorView& source, Metric metric);

/// Returns the manifest of an index that is going to be written again: without regions and
/// placement, naming this farvec.
layout::Manifest unwritten(layout::Manifest manifest);

/// Throws StatusError (invalid_argument) naming the first row that holds NaN or infinity, or is too
/// long (kMostSquaredLength). The rows are in the form in which they are compared.
void require_comparable(const VectorView& stored, unsigned threads);

/// Returns the rows in the form in which the index stores them. `source` is moved from when it is
/// in stored form already. Throws what require_comparable() throws.
dataset::VectorSet stored_rows(dataset::VectorSet source, Metric metric, unsigned threads);
/// Copies rows that the caller owns, and may change meanwhile, into stored form. The copy is what
/// is checked.
dataset::VectorSet stored_copy(const VectorView& source, Metric metric, unsigned threads);

/// Checks queries that guide a build; they should be like the queries to come. Both are in stored
/// form. Throws Error when there are no queries, or they have another type or dimension than the
/// rows.
void check_sample(const VectorView& queries, const VectorView& rows);

}  // namespace farvec::indexing
