// RowsToLink are what a graph is linked by: the rows of an index, or integers of 8 bits in their
// place, which are compared in a part of the time.
#pragma once

#include "base/types.h"
#include "dataset/vector_set.h"
#include "indexing/source.h"

namespace farvec::indexing {

/// Rows of floats or half floats are rounded where that hardly changes which rows are near: a trial
/// compares some rows with many others by both. Rows that are few, integers or bits, and those that
/// rounding mixes up, are linked by themselves. All of it is the same for any number of threads.
class RowsToLink {
 public:
  /// `source` has rows in stored form, which are borrowed. Memory: a byte for each element.
  RowsToLink(const Source& source, unsigned threads);

  /// Returns what is linked. It is valid as long as this lives.
  VectorView rows() const { return is_rounded() ? rounded_.view() : whole_; }
  /// Returns the metric by which rows() are compared.
  Metric metric() const { return metric_; }
  bool is_rounded() const { return rounded_.count() > 0; }

 private:
  VectorView whole_;
  Metric metric_;
  dataset::VectorSet rounded_;
};

}  // namespace farvec::indexing
