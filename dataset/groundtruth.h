// A GroundTruth has the true neighbours of a set of queries; these functions read and write its
// files.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/types.h"

namespace farvec::dataset {

/// Has `queries` rows of `k` neighbours, nearest first. Search results have the same form, where an
/// id of kInvalidNode says that fewer than k were found.
struct GroundTruth {
  std::size_t queries = 0;
  std::uint32_t k = 0;
  std::vector<NodeId> ids;  ///< queries * k
  /// Queries * k distances in the sense of Metric, or empty when the file has none.
  std::vector<float> distances;

  std::span<const NodeId> ids_of(std::size_t query) const { return {&ids[query * k], k}; }
  std::span<const float> distances_of(std::size_t query) const {
    return {&distances[query * k], k};
  }
  bool has_distances() const { return !distances.empty(); }
};

/// Returns true for the names of files with ids instead of vectors: .ibin, .gt and a number,
/// .ivecs, and ":neighbors" of an HDF5 file.
bool is_groundtruth_name(const std::string& path);

/// Reads .ibin, or .gt and a number: u32 queries, u32 k, ids (u32), then distances (f32) or
/// nothing, which the size of the file decides. Or .ivecs, which has no distances. Or an
/// ann-benchmarks HDF5 file, whose distances are converted to those of Metric. Throws Error when
/// the sizes do not fit.
GroundTruth read_groundtruth(const std::string& path);

/// For the beginning of long work: it fails where write_groundtruth() would fail at the end. Throws
/// Error on a suffix that cannot be written, SystemError when the file cannot be made.
void check_groundtruth_output(const std::string& path);

/// Writes .ibin (or .gt and a number), with distances when there are any, or .ivecs without.
void write_groundtruth(const std::string& path, const GroundTruth& truth);

}  // namespace farvec::dataset
