// An EdgeEncoder turns one edge into its code and factors, and puts those into their place in a
// block: the part that the encoders of NeighborCodes share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/types.h"
#include "quantization/encoder.h"
#include "quantization/neighbor_codes.h"
#include "quantization/neighbor_factors.h"

namespace farvec::quantization {

/// An EdgeSpace is the space in which edges are encoded.
struct EdgeSpace {
  Metric metric = Metric::l2;
  std::uint32_t bits = 1;
  std::uint32_t dimension = 0;
  const float* centroid = nullptr;  ///< rotated; borrowed
};

/// Makes parameters without factor ranges, around the mean of all rows. Throws Error when there are
/// no rows, or a dimension or bits are out of range.
RabitqParameters parameters_without_ranges(const VectorView& rows, Metric metric,
                                           std::uint32_t bits, std::uint64_t seed,
                                           unsigned threads);

/// Writes the row minus the parameters' centroid, rotated: `dimension` floats.
void rotate_row(const RabitqParameters& parameters, const Rotation& rotation, const std::byte* row,
                float* out);

/// Encodes edges for one thread.
class EdgeEncoder {
 public:
  explicit EdgeEncoder(const EdgeSpace& space);

  /// Fits an edge; both ends are in the form that rotate_row() gives.
  NeighborFactors fit(const float* vertex, const float* neighbor);

  /// Writes the edge that was fitted last to the place of neighbour `place` among the blocks at
  /// `blocks`, which are all zero there.
  void put(const RabitqParameters& parameters, const NeighborFactors& factors, std::uint32_t place,
           std::byte* blocks) const;

 private:
  double along_code(const float* vertex);

  const EdgeSpace space_;
  Encoder encoder_;
  std::vector<float> residual_, code_;
};

/// NeighborRanges are the ranges of the factors of all edges.
struct NeighborRanges {
  float add_low = std::numeric_limits<float>::infinity();
  float add_high = -std::numeric_limits<float>::infinity();
  float rescale_low = std::numeric_limits<float>::infinity();
  float rescale_high = -std::numeric_limits<float>::infinity();

  void include(const NeighborRanges& other);
  void include(const NeighborFactors& f) { include({f.add, f.add, f.rescale, f.rescale}); }
  /// Sets the ranges if there were any edges.
  void set(RabitqParameters& parameters) const;
};

}  // namespace farvec::quantization
