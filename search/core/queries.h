// Loads query files and makes queries fit for an index.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/vector_set.h"
#include "layout/index/manifest.h"
#include "search/index/row_form.h"

namespace farvec::search {

/// Loads queries and brings them into the form in which the index compares them (cosine:
/// normalised). Throws Error when their dimension or type is not that of the data set the index was
/// built from, or when a query has no distance to anything.
dataset::VectorSet load_queries(const std::string& path, const RowForm& form);
/// Does the same to rows that are there already; messages call them `name`.
dataset::VectorSet fit_queries(dataset::VectorSet source, const std::string& name,
                               const RowForm& form);

/// Says why a query of form.source_type cannot be compared, in the words that follow "query 5" in a
/// message; empty where it can.
std::string_view fault_of_query(const std::byte* query, const RowForm& form);

/// Writes a query of form.source_type, which is sound, in the form in which it is compared.
void compare_as(const std::byte* query, const RowForm& form, std::byte* out);

/// Converts rows of form.source_type to form.stored_type, packed. Empty where rows already have
/// that form. Throws StatusError (invalid_argument) naming a query that holds NaN or infinity, is
/// too long (kMostSquaredLength), has bits that are no elements, or is beyond the half floats of a
/// second copy.
std::vector<std::byte> compared_queries(const VectorView& queries, const RowForm& form);

/// Says whether the distances in a search's results are distances to the data set's vectors, so
/// that they can be compared with those of a ground truth. They are not when vectors were rounded
/// as they were stored, or when distances come from codes. `rerank` results are ranked again by
/// their vectors. The index is the manifest's.
bool has_exact_distances(const layout::Manifest& manifest, const SearchIndex& index,
                         std::uint32_t rerank);

}  // namespace farvec::search
