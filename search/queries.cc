#include "search/queries.h"

#include "base/error.h"
#include "distance/distance.h"

namespace farvec::search {

dataset::VectorSet load_queries(const std::string& path, const layout::Manifest& manifest) {
  dataset::VectorSet source = dataset::load(path);
  if (source.dimension() != manifest.dimension) {
    throw Error("{} has dimension {}, but the index has {}", path, source.dimension(),
                manifest.dimension);
  }
  if (source.type() != manifest.source_type) {
    throw Error(
        "{} holds {}, but the index was built from {}: convert it with `farvec dataset "
        "convert --type {}`",
        path, to_string(source.type()), to_string(manifest.source_type),
        to_string(manifest.source_type));
  }
  if (manifest.metric != Metric::cosine) return source;
  dataset::VectorSet stored(source.count(), source.dimension(), manifest.stored_type);
  for (std::size_t i = 0; i < source.count(); ++i) {
    distance::to_stored(source.view().row(i), source.type(), manifest.metric, source.dimension(),
                        stored.mutable_row(i));
  }
  return stored;
}

bool has_exact_distances(const layout::Manifest& manifest, std::uint32_t rerank) {
  const bool of_codes = manifest.is_slotted() && rerank == 0 &&
                        manifest.slotted().payload == layout::PayloadKind::code;
  return manifest.stored_type == manifest.source_type && !of_codes;
}

}  // namespace farvec::search
