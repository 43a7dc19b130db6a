// Neighbours of queries that a call was given.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "dataset/groundtruth.h"
#include "python/arrays.h"

namespace farvec::python {

/// Ids, and their distances where they are known; the names are those of the arguments.
struct Neighbors {
  /// Throws as Ids does.
  Neighbors(const AnyArray& id_rows, std::string_view ids_name,
            const std::optional<AnyArray>& distance_rows, std::string_view distances_name);

  Ids ids;
  std::optional<Distances> distances;
  std::string_view name;
};

/// As a file of ground truth has them, whose ids have 32 bits. Throws StatusError
/// (invalid_argument).
std::vector<NodeId> file_ids(const Neighbors& neighbors);

dataset::GroundTruth to_truth(const Neighbors& neighbors, std::vector<NodeId> ids);

}  // namespace farvec::python
