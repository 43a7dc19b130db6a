// The Euclidean space in which vectors of any type and metric are clustered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/types.h"

namespace farvec::cluster {

/// Rows of a data set as points of f32 coordinates whose squared Euclidean distance orders as the
/// metric does: the vectors themselves, for inner_product with sqrt(M^2 - |x|^2) as one coordinate
/// more, M the largest norm (as graph::BuildSpace does it). Thread-safe.
class Space {
 public:
  /// Keeps a reference to the rows, which must outlive it. Reads them all for inner_product.
  /// Throws Error when the space would have more than kMaxDimension dimensions.
  Space(VectorView data, Metric metric, unsigned threads);
  /// The space of other rows, for rows that come beside those; what is longer than all of them has
  /// 0 for the coordinate more. Reads nothing.
  struct Reach {
    double largest_norm2 = 0;  ///< of those rows, for inner_product
  };
  Space(VectorView data, Metric metric, Reach reach);

  std::size_t count() const { return data_.count; }
  std::uint32_t dimension() const { return dimension_; }
  Reach reach() const { return {largest_norm2_}; }

  /// Writes the `dimension()` coordinates of a row.
  void row(std::size_t i, float* out) const;

  /// Rounds the coordinates of points, one after the other, to what elements of the data can be;
  /// for inner_product all but the last.
  void round(std::span<float> points) const;

 private:
  VectorView data_;
  std::uint32_t dimension_;
  double largest_norm2_ = 0;
};

}  // namespace farvec::cluster
