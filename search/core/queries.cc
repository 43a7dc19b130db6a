#include "search/core/queries.h"

#include <algorithm>

#include "base/error.h"
#include "base/finite.h"
#include "base/status_error.h"
#include "base/stored_form.h"
#include "distance/distance.h"
#include "search/index/search_index.h"
#include "search/index/second_copy.h"

namespace farvec::search {
namespace {

/// Says whether queries are compared in the stored form of their type. They are not where the
/// second copy of f32 vectors is in f16.
bool has_stored_form(const RowForm& form) {
  return stored_type(form.metric, form.source_type) == form.stored_type;
}

}  // namespace

void compare_as(const std::byte* query, const RowForm& form, std::byte* out) {
  if (has_stored_form(form)) {
    return distance::to_stored(query, form.source_type, form.metric, form.dimension, out);
  }
  std::vector<float> whole(form.dimension);
  distance::to_stored(query, form.source_type, form.metric, form.dimension, whole.data());
  distance::narrow(whole.data(), form.stored_type, form.dimension, out);
}

std::string_view fault_of_query(const std::byte* query, const RowForm& form) {
  const RowFault fault = fault_of_row(query, form.source_type, form.dimension, form.metric);
  if (fault != RowFault::none || has_stored_form(form)) return to_string(fault);
  std::vector<std::byte> halves(packed_bytes(form.stored_type, form.dimension));
  compare_as(query, form, halves.data());
  if (is_finite_row(halves.data(), form.stored_type, form.dimension)) return {};
  return "has an element beyond 65504, which the half floats of the second copy do not have";
}

std::vector<std::byte> compared_queries(const VectorView& queries, const RowForm& form) {
  for (std::size_t i = 0; i < queries.count; ++i) {
    const std::string_view fault = fault_of_query(queries.row(i), form);
    if (fault.empty()) continue;
    throw StatusError(StatusCode::invalid_argument, "query {} {}", i, fault);
  }
  if (!stores_unit_vectors(form.metric) && queries.type == form.stored_type) return {};
  const std::size_t bytes = packed_bytes(form.stored_type, queries.dimension);
  std::vector<std::byte> stored(queries.count * bytes);
  for (std::size_t i = 0; i < queries.count; ++i) {
    compare_as(queries.row(i), form, stored.data() + i * bytes);
  }
  return stored;
}

dataset::VectorSet load_queries(const std::string& path, const RowForm& form) {
  return fit_queries(dataset::load(path, {.metric = form.metric}), path, form);
}

dataset::VectorSet fit_queries(dataset::VectorSet source, const std::string& name,
                               const RowForm& form) {
  if (source.dimension() != form.dimension) {
    throw Error("{} has dimension {}, but the index has {}", name, source.dimension(),
                form.dimension);
  }
  if (source.type() != form.source_type) {
    throw Error(
        "{} holds {}, but the index was built from {}: convert it with `farvec dataset "
        "convert --type {}`",
        name, to_string(source.type()), to_string(form.source_type), to_string(form.source_type));
  }
  const std::vector<std::byte> rows = compared_queries(source.view(), form);
  if (rows.empty()) return source;
  dataset::VectorSet stored(source.count(), source.dimension(), form.stored_type);
  std::copy(rows.begin(), rows.end(), stored.mutable_row(0));
  return stored;
}

bool has_exact_distances(const layout::Manifest& manifest, const SearchIndex& index,
                         std::uint32_t rerank) {
  if (index.second() != nullptr) return index.second()->is_exact();
  const bool of_codes = manifest.is_slotted() && rerank == 0 &&
                        manifest.slotted().payload == layout::PayloadKind::code;
  return manifest.stored_type == manifest.source_type && !of_codes;
}

}  // namespace farvec::search
