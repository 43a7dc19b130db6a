// The geometry in which a graph is built: a distance between any two rows of the data set.
#pragma once

#include <cstdint>
#include <vector>

#include "base/memory.h"
#include "base/types.h"
#include "distance/distance.h"

namespace farvec::graph {

/// Pruning compares distances between data points, so it needs something like a metric.
/// l2 and cosine (unit vectors) use squared Euclidean distance. inner_product adds one coordinate
/// sqrt(M^2 - |x|^2), M the largest norm, which makes nearest by Euclidean distance and largest by
/// inner product agree (Bachrach et al., RecSys 2014).
class BuildSpace {
 public:
  /// Keeps a reference to the rows of `data` (stored type); they must outlive it.
  BuildSpace(VectorView data, Metric metric, unsigned threads);

  std::size_t count() const { return data_.count; }
  const VectorView& data() const { return data_; }

  /// Squared distance between rows a and b.
  float distance(NodeId a, NodeId b) const {
    const float d = kernel_(data_.row(a), data_.row(b), data_.dimension);
    if (augmented_.empty()) return d;
    // |x|^2 + augmented^2 = M^2 for both rows; the kernel gives -<a,b>.
    return 2.0f * (max_norm_squared_ + d - augmented_[a] * augmented_[b]);
  }

  /// out[i] = distance(a, ids[i]).
  void distances(NodeId a, const NodeId* ids, std::size_t count, float* out) const;

  void prefetch(NodeId id) const { prefetch_line(data_.row(id)); }

  /// The row nearest to the mean of all rows (ties: the smaller id): the entry point.
  NodeId medoid(unsigned threads) const;

 private:
  VectorView data_;
  distance::PairKernel kernel_;
  distance::ManyKernel many_;
  std::vector<float> augmented_;  ///< inner_product only: the extra coordinate of each row
  float max_norm_squared_ = 0;
};

}  // namespace farvec::graph
