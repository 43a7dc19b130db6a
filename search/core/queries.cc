#include "search/core/queries.h"

#include <algorithm>

#include "base/error.h"
#include "base/finite.h"
#include "base/status_error.h"
#include "base/stored_form.h"
#include "distance/distance.h"

namespace farvec::search {

std::vector<std::byte> normalised_queries(const VectorView& queries, Metric metric) {
  for (std::size_t i = 0; i < queries.count; ++i) {
    const RowFault fault = fault_of_row(queries.row(i), queries.type, queries.dimension, metric);
    if (fault == RowFault::none) continue;
    throw StatusError(StatusCode::invalid_argument, "query {} {}", i, to_string(fault));
  }
  if (!stores_unit_vectors(metric)) return {};
  const ElementType type = stored_type(metric, queries.type);
  const std::size_t bytes = packed_bytes(type, queries.dimension);
  std::vector<std::byte> stored(queries.count * bytes);
  for (std::size_t i = 0; i < queries.count; ++i) {
    distance::to_stored(queries.row(i), queries.type, metric, queries.dimension,
                        stored.data() + i * bytes);
  }
  return stored;
}

dataset::VectorSet load_queries(const std::string& path, const layout::Manifest& manifest) {
  return fit_queries(dataset::load(path, {.metric = manifest.metric}), path, manifest);
}

dataset::VectorSet fit_queries(dataset::VectorSet source, const std::string& name,
                               const layout::Manifest& manifest) {
  if (source.dimension() != manifest.dimension) {
    throw Error("{} has dimension {}, but the index has {}", name, source.dimension(),
                manifest.dimension);
  }
  if (source.type() != manifest.source_type) {
    throw Error(
        "{} holds {}, but the index was built from {}: convert it with `farvec dataset "
        "convert --type {}`",
        name, to_string(source.type()), to_string(manifest.source_type),
        to_string(manifest.source_type));
  }
  const std::vector<std::byte> rows = normalised_queries(source.view(), manifest.metric);
  if (rows.empty()) return source;
  dataset::VectorSet stored(source.count(), source.dimension(), manifest.stored_type);
  std::copy(rows.begin(), rows.end(), stored.mutable_row(0));
  return stored;
}

bool has_exact_distances(const layout::Manifest& manifest, std::uint32_t rerank) {
  const bool of_codes = manifest.is_slotted() && rerank == 0 &&
                        manifest.slotted().payload == layout::PayloadKind::code;
  return manifest.stored_type == manifest.source_type && !of_codes;
}

}  // namespace farvec::search
