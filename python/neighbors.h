// Neighbors are the neighbours of queries that a call was given.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "dataset/groundtruth.h"
#include "python/arrays.h"

namespace farvec::python {

/// Holds ids, and their distances where they are known; the names are the arguments'.
struct Neighbors {
  /// Throws what Ids throws, and StatusError (invalid_argument) for shapes that do not fit.
  Neighbors(const AnyArray& id_rows, std::string_view ids_name,
            const std::optional<AnyArray>& distance_rows, std::string_view distances_name);

  Ids ids;
  std::optional<Distances> distances;
  std::string_view name;
};

/// Returns the ids for a file of ground truth, which have 32 bits. Throws StatusError
/// (invalid_argument) for an id that has more.
std::vector<NodeId> file_ids(const Neighbors& neighbors);

dataset::GroundTruth to_truth(const Neighbors& neighbors, std::vector<NodeId> ids);

}  // namespace farvec::python
