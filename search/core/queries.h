// Loads query files and makes queries fit for an index.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "dataset/vector_set.h"
#include "layout/index/manifest.h"

namespace farvec::search {

/// Loads queries and brings them into the index's stored form (cosine: normalised). Throws Error
/// when their dimension or type is not that of the data set the index was built from, or when a
/// query has no distance to anything.
dataset::VectorSet load_queries(const std::string& path, const layout::Manifest& manifest);
/// Does the same to rows that are there already; messages call them `name`.
dataset::VectorSet fit_queries(dataset::VectorSet source, const std::string& name,
                               const layout::Manifest& manifest);

/// Converts rows of the source type to the index's stored form, packed. Empty where rows already
/// have that form, with all metrics but cosine. Throws StatusError (invalid_argument) naming a
/// query that holds NaN or infinity or is too long (kMostSquaredLength).
std::vector<std::byte> normalised_queries(const VectorView& queries, Metric metric);

/// Says whether the distances in a search's results are distances to the data set's vectors, so
/// that they can be compared with those of a ground truth. They are not when vectors were rounded
/// as they were stored, or when distances come from codes. `rerank` results are ranked again by
/// their vectors.
bool has_exact_distances(const layout::Manifest& manifest, std::uint32_t rerank);

}  // namespace farvec::search
