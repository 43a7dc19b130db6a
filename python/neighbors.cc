#include "python/neighbors.h"

#include <utility>

#include "python/errors.h"

namespace farvec::python {

Neighbors::Neighbors(const AnyArray& id_rows, std::string_view ids_name,
                     const std::optional<AnyArray>& distance_rows, std::string_view distances_name)
    : ids(id_rows, ids_name, 2), name(ids_name) {
  if (ids.shape.size() != 2) {
    throw_invalid("{}: it has {} dimensions: give a row of ids for each query", name,
                  ids.shape.size());
  }
  if (!distance_rows) return;
  distances.emplace(*distance_rows, distances_name);
  if (distances->shape != ids.shape) {
    throw_invalid("{}: {} of them, in another shape than the {} {}: a distance for each id",
                  distances_name, distances->values.size(), ids.values.size(), name);
  }
}

std::vector<NodeId> file_ids(const Neighbors& neighbors) {
  std::vector<NodeId> ids;
  ids.reserve(neighbors.ids.values.size());
  for (const std::uint64_t id : neighbors.ids.values) {
    if (id > kInvalidNode) {
      throw_invalid("{}: {} is out of range: a file of ground truth has ids of 32 bits",
                    neighbors.name, id);
    }
    ids.push_back(static_cast<NodeId>(id));
  }
  return ids;
}

dataset::GroundTruth to_truth(const Neighbors& neighbors, std::vector<NodeId> ids) {
  dataset::GroundTruth truth{
      neighbors.ids.shape[0],
      to_count(static_cast<std::int64_t>(neighbors.ids.shape[1]), neighbors.name),
      std::move(ids),
      {}};
  if (neighbors.distances) truth.distances = neighbors.distances->values;
  return truth;
}

}  // namespace farvec::python
