// These functions bring rows into the form in which a collection keeps them.
#pragma once

#include <cstddef>
#include <string>

#include "base/types.h"
#include "dataset/vector_set.h"
#include "layout/collection/collection_manifest.h"

namespace farvec::collection {

/// Says why a collection of this shape cannot keep a row of its source type, in the words that
/// follow "row 5" in a message; empty where it can.
std::string fault_of_kept(const std::byte* row, const layout::CollectionManifest& shape);

/// Copies rows of the source type, which the caller owns and may change meanwhile, into the form in
/// which they are kept. The copy is what is checked. Throws StatusError (invalid_argument) naming
/// the first row that fault_of_kept() would refuse.
dataset::VectorSet kept_copy(const VectorView& rows, const layout::CollectionManifest& shape,
                             unsigned threads);

}  // namespace farvec::collection
