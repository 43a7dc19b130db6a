// From a graph and its vectors to the codes of every vertex's neighbours: the data side of
// NeighborCodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/memory.h"
#include "base/node_record.h"
#include "base/progress.h"
#include "base/types.h"
#include "quantization/neighbor_codes.h"
#include "quantization/rabitq.h"

namespace farvec::quantization {

/// The graph that is encoded, and whose vectors. Borrowed.
struct EdgeSet {
  VectorView rows;  ///< stored type; row v is vertex v's
  AdjacencyView graph;
};

struct NeighborTraining {
  Metric metric = Metric::l2;
  std::uint32_t bits = 1;  ///< per dimension, 1 to NeighborCodes::kMostBits
  std::uint64_t seed = 1;  ///< of the rotation
  unsigned threads = 0;    ///< as in resolve_threads(); the codes do not depend on it
  /// Borrowed. Counts, of a NeighborEncoder, every edge, and of a MemberEncoder every row.
  Progress* progress = nullptr;
};

/// Keeps every row rotated, as floats: an edge is then one subtraction. encode() is for any thread.
class NeighborEncoder {
 public:
  /// Rotates all rows around their mean and finds the factor ranges over all edges. Throws Error on
  /// no rows, or a dimension or bits out of range, and WorkInterrupted.
  NeighborEncoder(const EdgeSet& edges, const NeighborTraining& training);

  const NeighborCodes& codes() const { return codes_; }

  /// Encodes vertex v's neighbours in the order of their ids to `out`, codes().bytes(degree of v)
  /// long. Deterministic.
  void encode(NodeId v, std::byte* out) const;

 private:
  EdgeSet edges_;
  HugeBuffer rotated_;           ///< of each row less the centroid, `dimension` floats
  std::vector<float> centroid_;  ///< rotated
  NeighborCodes codes_;
};

}  // namespace farvec::quantization
