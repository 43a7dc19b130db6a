// Query files, made fit for an index.
#pragma once

#include <string>

#include "dataset/vector_set.h"
#include "layout/manifest.h"

namespace farvec::cli {

/// Loads queries and brings them into the index's stored form (cosine: normalised). Throws Error
/// when their dimension or type is not that of the data set the index was built from.
dataset::VectorSet load_queries(const std::string& path, const layout::Manifest& manifest);

}  // namespace farvec::cli
