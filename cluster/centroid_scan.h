// A CentroidScan finds the centroids near a query by the codes of all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/memory.h"
#include "base/types.h"
#include "cluster/shortlist.h"
#include "quantization/neighbor_codes.h"

namespace farvec::cluster {

/// A CentroidScanScratch is the working memory of one search; reused between searches.
struct CentroidScanScratch {
  quantization::NeighborQuery prepared;
  Shortlist list;

  std::size_t dram_bytes() const {
    return list.dram_bytes() + prepared.rotated.capacity() * sizeof(float) +
           prepared.digits.capacity() +
           prepared.tables.capacity() * sizeof(quantization::NeighborQuery::Tables);
  }
};

/// Has codes of 2 bits per dimension, relative to the mean of the centroids, in blocks that are
/// estimated at once: scanning some ten thousand takes less time than walking to some hundred in a
/// graph. Immutable after construction.
class CentroidScan {
 public:
  /// `centroids` are f32, at least one. It does not keep them.
  CentroidScan(const VectorView& centroids, unsigned threads);

  /// Returns the `list` centroids with the lowest estimates, in any order; all when there are
  /// fewer. `query` has the centroids' dimension. Valid until the scratch is used again.
  std::span<const ClusterId> near(const float* query, std::uint32_t list,
                                  CentroidScanScratch& scratch) const;

  std::size_t dram_bytes() const { return codes_.size() + mean_.capacity() * sizeof(float); }

 private:
  std::uint32_t count_;
  std::vector<float> mean_;
  HugeBuffer codes_;
  quantization::NeighborCodes quantizer_;
};

}  // namespace farvec::cluster
