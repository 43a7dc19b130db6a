// A NeighborEncoder turns a graph and its vectors into the codes of every vertex's neighbours: the
// data side of NeighborCodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/memory.h"
#include "base/node_record.h"
#include "base/progress.h"
#include "base/types.h"
#include "quantization/neighbor_codes.h"
#include "quantization/rabitq.h"
#include "quantization/rotation.h"

namespace farvec::quantization {

/// An EdgeSet is the graph to encode, and its vectors. Borrowed.
struct EdgeSet {
  VectorView rows;  ///< stored type; row v belongs to vertex v
  AdjacencyView graph;
};

struct NeighborTraining {
  Metric metric = Metric::l2;
  std::uint32_t bits = 1;  ///< bits per dimension, 1 to NeighborCodes::kMostBits
  std::uint64_t seed = 1;  ///< seed of the rotation
  unsigned threads = 0;    ///< see resolve_threads(); the codes do not depend on it
  /// Borrowed. A NeighborEncoder counts every edge, a MemberEncoder every row.
  Progress* progress = nullptr;
};

/// Keeps rows of f32 rotated, so that an edge is one subtraction. Rows of other types would take a
/// copy that is larger than themselves, so they are rotated again for each edge. Any thread may
/// call encode().
class NeighborEncoder {
 public:
  /// Rotates rows around their mean and finds the factor ranges over all edges. Throws Error
  /// when there are no rows, or a dimension or bits are out of range, and WorkInterrupted.
  NeighborEncoder(const EdgeSet& edges, const NeighborTraining& training);

  const NeighborCodes& codes() const { return codes_; }

  /// Encodes vertex v's neighbours in the order of their ids to `out`, codes().bytes(degree of v)
  /// long. Deterministic.
  void encode(NodeId v, std::byte* out) const;

 private:
  EdgeSet edges_;
  HugeBuffer rotated_;                ///< each row of f32 minus the centroid; empty for other types
  std::vector<float> centroid_;       ///< rotated
  std::optional<Rotation> rotation_;  ///< set once the dimension is known to be in range
  NeighborCodes codes_;
};

}  // namespace farvec::quantization
