// A Space is the Euclidean space in which vectors of any type and metric are clustered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/types.h"

namespace farvec::cluster {

/// Scales a point to length 1; zero stays zero.
void scale_to_unit(std::span<float> point);

/// Presents rows of a data set as points of f32 coordinates whose squared Euclidean distance orders
/// like the metric: the vectors themselves, for inner_product with one more coordinate, sqrt(M^2 -
/// |x|^2), where M is the largest norm (like graph::BuildSpace). Bits are 0 and 1; for jaccard they
/// are scaled to length 1, which orders rows of about as many bits alike. Thread-safe.
class Space {
 public:
  /// Keeps a reference to the rows, which must outlive it. Reads them all for inner_product.
  /// Throws Error when the space would have more than kMaxDimension dimensions.
  Space(VectorView data, Metric metric, unsigned threads);
  /// Makes the space of other rows, for rows that are added to those. A row that is longer than all
  /// of them gets 0 as its additional coordinate. Reads nothing.
  struct Reach {
    double largest_norm2 = 0;  ///< largest of the other rows, for inner_product
  };
  Space(VectorView data, Metric metric, Reach reach);

  std::size_t count() const { return data_.count; }
  std::uint32_t dimension() const { return dimension_; }
  Reach reach() const { return {largest_norm2_}; }

  /// Writes the `dimension()` coordinates of a row.
  void row(std::size_t i, float* out) const;

  /// Rounds the coordinates of points, one after the other, to values that elements of the data can
  /// have; for inner_product all but the last coordinate.
  void round(std::span<float> points) const;

 private:
  VectorView data_;
  std::uint32_t dimension_;
  double largest_norm2_ = 0;
  bool unit_ = false;  ///< points have length 1
};

}  // namespace farvec::cluster
