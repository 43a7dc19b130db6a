// The true neighbours of a set of queries, and the files they are kept in.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/types.h"

namespace farvec::dataset {

/// `queries` rows of `k` neighbours, nearest first. Also the form of search results, where an id of
/// kInvalidNode says that fewer than k were found.
struct GroundTruth {
  std::size_t queries = 0;
  std::uint32_t k = 0;
  std::vector<NodeId> ids;       ///< queries * k
  std::vector<float> distances;  ///< queries * k as in Metric, or empty when the file has none

  std::span<const NodeId> ids_of(std::size_t query) const { return {&ids[query * k], k}; }
  std::span<const float> distances_of(std::size_t query) const {
    return {&distances[query * k], k};
  }
  bool has_distances() const { return !distances.empty(); }
};

/// True for .ibin, .gt and a number, and .ivecs, and for ":neighbors" of an HDF5 file: ids, not
/// vectors.
bool is_groundtruth_name(const std::string& path);

/// Reads .ibin, or .gt and a number: u32 queries, u32 k, ids (u32), then distances (f32) or
/// nothing, told apart by the size of the file; .ivecs, which has no distances; or an
/// ann-benchmarks HDF5 file, whose distances are converted to those of Metric. Throws Error when
/// the sizes do not fit.
GroundTruth read_groundtruth(const std::string& path);

/// For the beginning of long work: fails where write_groundtruth would fail at its end. Throws
/// Error on a suffix that cannot be written, SystemError when the file cannot be made.
void check_groundtruth_output(const std::string& path);

/// Writes .ibin (or .gt and a number), with distances when there are any, or .ivecs without.
void write_groundtruth(const std::string& path, const GroundTruth& truth);

}  // namespace farvec::dataset
