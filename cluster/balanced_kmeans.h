// BalancedKmeans is k-means with a few parts, where no part may hold more than its share of the
// points.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"
#include "distance/distance.h"

namespace farvec::cluster {

struct SplitOptions {
  std::uint32_t parts = 2;    ///< at most the number of points
  std::uint64_t largest = 0;  ///< points in one part, at least points / parts rounded up
  std::uint32_t iterations = 12;
  std::uint64_t seed = 1;
  unsigned threads = 1;
};

struct Split {
  std::vector<float> centers;          ///< parts x dimension: means of their points
  std::vector<std::uint32_t> part_of;  ///< the part of points[i]
  std::vector<std::uint64_t> sizes;    ///< none is 0, none above `largest`
};

/// Runs Lloyd's iterations over the rows that `points` names, from k-means++ centres. When more
/// than `largest` points are nearest to a part, the part keeps those that would lose most by going
/// to their second centre (by squared distance: a part is cut by planes). The others go to the
/// nearest centre that has room. An empty part takes the point that is farthest from its centre in
/// the largest part. Deterministic; the result does not depend on `threads`.
class BalancedKmeans {
 public:
  /// `rows` are f32 and must outlive this object.
  BalancedKmeans(VectorView rows, std::span<const NodeId> points, const SplitOptions& options);

  Split run();

 private:
  const float* point(std::size_t i) const {
    return reinterpret_cast<const float*>(rows_.row(points_[i]));
  }
  const float* center(std::size_t part) const { return &split_.centers[part * rows_.dimension]; }
  void set_center(std::size_t part, const float* values);
  void distances(std::size_t i, float* out) const;

  void choose_centers();
  void find_nearest();
  /// Assigns the points to parts, and returns how many changed their part.
  std::uint64_t allot();
  std::vector<std::uint32_t> displaced_points(std::vector<std::uint32_t>& parts);
  void move_centers();
  void fill_empty_parts();
  std::uint32_t worst_point_of(std::uint32_t part) const;

  const VectorView rows_;
  const std::span<const NodeId> points_;
  const SplitOptions options_;
  const distance::PairKernel pair_;
  const distance::ManyKernel many_;
  std::vector<NodeId> all_parts_;
  std::vector<std::uint32_t> nearest_;  ///< centre of each point
  /// Squared distance of the second nearest centre minus that of the nearest.
  std::vector<float> regret_;
  Split split_;
};

/// Writes the mean of some rows (f32, at least one), summed in their order: `dimension` floats.
void write_mean(const VectorView& rows, std::span<const NodeId> points, float* mean);

/// Writes the one of these rows that is nearest to their mean, the first among equals: `dimension`
/// floats.
void write_nearest_to_mean(const VectorView& rows, std::span<const NodeId> points, float* nearest);

}  // namespace farvec::cluster
