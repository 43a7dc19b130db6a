// What every index is made of: vectors in the form in which it stores them, and what a manifest
// says of them.
#pragma once

#include <string>

#include "base/types.h"
#include "dataset/vector_set.h"
#include "layout/index/manifest.h"

namespace farvec::indexing {

/// Where the vectors come from. Nothing is read.
struct DatasetFile {
  std::string path;
  std::string name;  ///< of the data set in reports; empty: the file's folder or its stem
};

/// Borrowed rows; they outlive the index that is being built.
struct Source {
  layout::Manifest manifest;  ///< as describe_source() returns it
  VectorView rows;            ///< stored type
};

/// A manifest with all that follows from the data set, the metric and this farvec. `source` are the
/// rows before stored_rows().
layout::Manifest describe_source(const DatasetFile& file, const VectorView& source, Metric metric);

/// Of an index that is going to be written again: without regions and placement, by this farvec.
layout::Manifest unwritten(layout::Manifest manifest);

/// Throws StatusError (invalid_argument) naming the first of the rows, in the form in which they
/// are compared, that holds NaN or infinity or is too long (kMostSquaredLength).
void require_comparable(const VectorView& stored, unsigned threads);

/// The rows as the index stores them. `source` is given up when it already is in stored form.
/// Throws as require_comparable().
dataset::VectorSet stored_rows(dataset::VectorSet source, Metric metric, unsigned threads);
/// The same of rows that somebody else owns, and may change meanwhile: it is the copy that is
/// checked.
dataset::VectorSet stored_copy(const VectorView& source, Metric metric, unsigned threads);

/// Queries like those to come, by which a build is guided; both in stored form. Throws Error when
/// there are none, or they have another type or dimension than the rows.
void check_sample(const VectorView& queries, const VectorView& rows);

}  // namespace farvec::indexing
