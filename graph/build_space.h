// A BuildSpace is the geometry in which a graph is built: a distance between any two rows of the
// data set.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "base/memory.h"
#include "base/types.h"
#include "distance/distance.h"

namespace farvec::graph {

/// Pruning compares distances between data points in it; searches ask for the same distances. l2
/// has squared Euclidean distances, and so has cosine (between unit vectors; a zero row is as far
/// from all others as rows at right angles are, since no search finds it near). inner_product has
/// negated products, which are no metric: see occlusion(). hamming is the squared Euclidean
/// distance of corners of a cube, and jaccard too is the square of a metric. Rows without any bit
/// are equal here, though searches by jaccard have them at 1 from each other: else most edges would
/// be between them where they are many.
class BuildSpace {
 public:
  /// Keeps a reference to the rows of `data` (stored type); they must outlive it.
  BuildSpace(VectorView data, Metric metric, unsigned threads);

  std::size_t count() const { return data_.count; }
  const VectorView& data() const { return data_; }

  /// Returns the distance of rows a and b; smaller is nearer.
  float distance(NodeId a, NodeId b) const {
    const float d = kernel_(data_.row(a), data_.row(b), data_.dimension);
    return zeros_.empty() ? d : beside_zeros(a, b, d);
  }

  /// Says whether distances are negated products.
  bool products() const { return products_; }
  /// Returns distance(v, v).
  float self(NodeId v) const { return products_ ? distance(v, v) : 0.0f; }

  /// Says how well another vertex stands for a candidate c, when `direct` is the distance of the
  /// pruned vertex from c and `between` the distance of the other vertex from c. It is at least 1
  /// where c is at least as near to the other vertex. For distances it is their ratio, for products
  /// the ratio of the products.
  float occlusion(float direct, float between) const {
    constexpr float kAlways = std::numeric_limits<float>::infinity();
    if (!products_) return between > 0 ? direct / between : kAlways;
    if (between > direct) return 0;
    return direct < 0 ? between / direct : kAlways;
  }

  /// Returns the squared Euclidean distance of two rows at `distance`. For products it is the
  /// distance of the rows with one more coordinate, sqrt(M^2 - |x|^2), where M is the largest
  /// length: then the nearest row is the row with the largest product (Bachrach et al., RecSys
  /// 2014).
  float squared(NodeId a, NodeId b, float distance) const {
    if (!products_) return distance;
    return 2.0f * (max_norm_squared_ + distance - augmented_[a] * augmented_[b]);
  }

  /// Sets out[i] = distance(a, ids[i]).
  void distances(NodeId a, const NodeId* ids, std::size_t count, float* out) const;

  void prefetch(NodeId id) const { prefetch_line(data_.row(id)); }

  /// Returns the row nearest to the mean of all rows (ties: the smaller id): the entry point.
  NodeId medoid(unsigned threads) const;

 private:
  /// Returns the distance of rows at `distance` of which any may be zero.
  float beside_zeros(NodeId a, NodeId b, float distance) const {
    if (sets_) return zeros_[a] && zeros_[b] ? 0.0f : distance;
    return zeros_[a] == zeros_[b] ? distance : distance + 1.0f;
  }

  VectorView data_;
  distance::PairKernel kernel_;
  distance::ManyKernel many_;
  const bool products_;
  const bool sets_;               ///< the metric is jaccard
  std::vector<bool> zeros_;       ///< cosine, jaccard: which rows are zero; empty when none is
  std::vector<float> augmented_;  ///< inner_product: the added coordinate of each row
  float max_norm_squared_ = 0;
};

}  // namespace farvec::graph
