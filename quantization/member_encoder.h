// A MemberEncoder turns clusters and their vectors into the codes of every cluster's members:
// NeighborCodes in which the vertex is the cluster's centroid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/membership.h"
#include "base/types.h"
#include "quantization/neighbor_codes.h"
#include "quantization/neighbor_encoder.h"
#include "quantization/rotation.h"

namespace farvec::quantization {

/// A MemberSet has the clusters to encode, and their vectors. Borrowed.
struct MemberSet {
  VectorView rows;  ///< stored type; may be a mapped file larger than memory
  MembershipView membership;
  /// Row c holds cluster c's centroid, f32 of the rows' dimension; its stride may be longer.
  VectorView centroids;
};

/// Keeps the centroids rotated, 4 bytes per cluster and dimension. Any thread may call encode().
class MemberEncoder {
 public:
  /// Finds the factor ranges over all members of all clusters. Throws Error like NeighborEncoder.
  /// Rows that are done are counted.
  MemberEncoder(const MemberSet& members, const NeighborTraining& training);

  const NeighborCodes& codes() const { return codes_; }

  /// Encodes these members of a cluster, in this order, to `out`, codes().bytes(ids.size()) long.
  /// Deterministic.
  void encode(ClusterId cluster, std::span<const NodeId> ids, std::byte* out) const;

 private:
  const float* centroid_of(ClusterId cluster) const {
    return rotated_.data() + std::size_t{cluster} * members_.rows.dimension;
  }
  RabitqParameters train(const NeighborTraining& training);

  MemberSet members_;
  std::vector<float> rotated_;   ///< each cluster's centroid minus the centroid of all rows
  std::vector<float> centroid_;  ///< centroid of all rows, rotated
  NeighborCodes codes_;
  Rotation rotation_;
};

}  // namespace farvec::quantization
