#include "collection/state/kept_rows.h"

#include <algorithm>
#include <vector>

#include "base/finite.h"
#include "base/parallel.h"
#include "base/status_error.h"
#include "base/stored_form.h"
#include "distance/distance.h"

namespace farvec::collection {
namespace {

constexpr std::size_t kKeptRun = 4096;

constexpr const char* kBeyondHalves =
    "has an element beyond 65504, which the half floats of the collection (second_copy f16) do not "
    "have";
constexpr const char* kBelowZero =
    "has an element below 0, which the segments of the collection (store u8) do not have";

bool has_negative(const std::byte* row, const layout::CollectionManifest& shape) {
  std::vector<float> wide(shape.dimension);
  distance::widen(row, shape.stored_type, shape.dimension, wide.data());
  return std::ranges::any_of(wide, [](float value) { return value < 0; });
}

/// Writes the row in the form in which it is kept, and says what is wrong with that.
std::string keep(const std::byte* row, const layout::CollectionManifest& shape, std::byte* out) {
  const ElementType stored = stored_type(shape.metric, shape.source_type);
  const bool halved = stored != shape.stored_type;
  std::vector<float> whole(halved ? shape.dimension : 0);
  std::byte* const in_form = halved ? reinterpret_cast<std::byte*>(whole.data()) : out;
  distance::to_stored(row, shape.source_type, shape.metric, shape.dimension, in_form);
  const RowFault fault = fault_of_row(in_form, stored, shape.dimension);
  if (fault != RowFault::none) return std::string(to_string(fault));
  if (halved) {
    distance::narrow(whole.data(), shape.stored_type, shape.dimension, out);
    if (!is_finite_row(out, shape.stored_type, shape.dimension)) return kBeyondHalves;
  }
  const bool unsigned_only = shape.options.store && shape.options.store->type == ElementType::u8;
  return unsigned_only && has_negative(out, shape) ? kBelowZero : "";
}

/// Says whether rows may have faults that those of a collection of whole segments have not.
bool has_own_faults(const layout::CollectionManifest& shape) {
  const auto& store = shape.options.store;
  return store && (store->type == ElementType::u8 || store->second);
}

}  // namespace

std::string fault_of_kept(const std::byte* row, const layout::CollectionManifest& shape) {
  const RowFault fault = fault_of_row(row, shape.source_type, shape.dimension, shape.metric);
  if (fault != RowFault::none || !has_own_faults(shape)) return std::string(to_string(fault));
  std::vector<std::byte> kept(packed_bytes(shape.stored_type, shape.dimension));
  return keep(row, shape, kept.data());
}

dataset::VectorSet kept_copy(const VectorView& rows, const layout::CollectionManifest& shape,
                             unsigned threads) {
  dataset::VectorSet kept(rows.count, rows.dimension, shape.stored_type);
  parallel_for(rows.count, kKeptRun, threads, [&](std::size_t begin, std::size_t end, unsigned) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::string fault = keep(rows.row(i), shape, kept.mutable_row(i));
      if (fault.empty()) continue;
      throw StatusError(StatusCode::invalid_argument, "row {} {}", i, fault);
    }
  });
  return kept;
}

}  // namespace farvec::collection
