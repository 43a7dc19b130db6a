#include "compute_node/collection/change_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/finite.h"
#include "base/status_error.h"
#include "changes/row_batch.h"
#include "layout/collection/change_record.h"

namespace farvec::compute_node {
namespace {

namespace wire = collection::v1;

std::string type_name(wire::ElementType type) {
  for (const ElementType known : kElementTypes) {
    if (to_wire(known) == type) return std::string(to_string(known));
  }
  return "none that is known";
}

std::string check_shape(const wire::InsertRequest& request, const changes::RowShape& shape) {
  if (request.type() != to_wire(shape.type)) {
    return fmt::format("type: {} came, {} is allowed: that of the index", type_name(request.type()),
                       to_string(shape.type));
  }
  if (request.dimension() != shape.dimension) {
    return fmt::format("dimension: {} came, {} is allowed: that of the index", request.dimension(),
                       shape.dimension);
  }
  const std::size_t row_bytes = packed_bytes(shape.type, shape.dimension);
  const std::size_t expected = static_cast<std::size_t>(request.ids_size()) * row_bytes;
  if (request.rows().size() == expected) return {};
  return fmt::format("rows: {} bytes came, {} is allowed: {} ids x {} x {}", request.rows().size(),
                     expected, request.ids_size(), shape.dimension, to_string(shape.type));
}

std::string find_repeated(std::span<const std::uint64_t> ids) {
  std::vector<std::pair<std::uint64_t, std::size_t>> sorted;
  sorted.reserve(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) sorted.emplace_back(ids[i], i);
  std::sort(sorted.begin(), sorted.end());
  const auto again =
      std::adjacent_find(sorted.begin(), sorted.end(),
                         [](const auto& a, const auto& b) { return a.first == b.first; });
  if (again == sorted.end()) return {};
  return fmt::format("ids[{}]: {} came, as it did with row {}: each id once is allowed",
                     std::next(again)->second, again->first, again->second);
}

std::string check_attributes(const changes::RowBatch& batch, const changes::RowShape& shape) {
  try {
    changes::check_shape(batch, shape.schema);
  } catch (const StatusError& error) {
    return fmt::format("attributes: {}", error.what());
  }
  const std::size_t row_bytes = packed_bytes(shape.stored_type, shape.dimension);
  const std::size_t whole = layout::changes_per_record(row_bytes, batch.attributes);
  if (batch.attributes.count() <= whole) return {};
  return fmt::format(
      "attributes: {} bytes came with {} rows, and one call takes the first {} of them: make "
      "several calls",
      batch.attributes.bytes.size(), batch.rows.count, whole);
}

/// Checks which rows a request is about.
template <typename Request>
std::string check_rows(const Request& request, std::size_t most_ids) {
  if (request.filter().empty()) return check_ids(ids_of(request), most_ids);
  if (request.ids_size() == 0) return {};
  return fmt::format("ids: {} came with a filter: either ids or a filter is allowed",
                     request.ids_size());
}

/// Checks how many tuples came for the rows, and how many bytes they have.
std::string check_counts(const wire::UpdateRequest& request) {
  const int tuples = request.attribute_ends_size();
  if (tuples != 1 && (tuples == 0 || tuples != request.ids_size())) {
    return fmt::format("attribute_ends: {} came with {} ids, 1 or one for each id is allowed",
                       tuples, request.ids_size());
  }
  if (request.attributes().size() <= layout::kMostChangeBytes) return {};
  return fmt::format("attributes: {} bytes came, at most {} is allowed: make several calls",
                     request.attributes().size(), layout::kMostChangeBytes);
}

template <typename Request>
layout::TupleView attributes_of(const Request& request) {
  const auto& ends = request.attribute_ends();
  return {.ends = {ends.data(), static_cast<std::size_t>(ends.size())},
          .bytes = std::as_bytes(std::span(request.attributes()))};
}

}  // namespace

std::string check_ids(std::span<const std::uint64_t> ids, std::size_t most) {
  if (!ids.empty() && ids.size() <= most) return {};
  return fmt::format("ids: {} came, 1 to {} is allowed: make several calls of more", ids.size(),
                     most);
}

std::string check_columns(const wire::AddColumnsRequest& request) {
  try {
    (void)layout::parse_schema(request.columns());
    return {};
  } catch (const Error& error) {
    return fmt::format("columns: {}", error.what());
  }
}

std::string check_delete(const wire::DeleteRequest& request, std::size_t most_ids) {
  return check_rows(request, most_ids);
}

std::string check_update(const wire::UpdateRequest& request, const changes::RowShape& shape,
                         std::size_t most_ids) {
  std::string wrong = check_rows(request, most_ids);
  if (wrong.empty()) wrong = check_counts(request);
  if (!wrong.empty() || shape.schema.empty()) return wrong;
  try {
    (void)changes::check_values(values_of(request), shape.schema);
    return {};
  } catch (const StatusError& error) {
    return fmt::format("columns, attributes: {}", error.what());
  }
}

std::string check_insert(const wire::InsertRequest& request, const changes::RowShape& shape,
                         std::size_t most_rows) {
  std::string wrong = check_ids(ids_of(request), most_rows);
  if (wrong.empty()) wrong = check_shape(request, shape);
  if (!wrong.empty()) return wrong;
  const changes::RowBatch batch = batch_of(request, shape);
  const VectorView& rows = batch.rows;
  for (std::size_t i = 0; i < rows.count; ++i) {
    const RowFault fault =
        fault_of_row(rows.row(i), rows.type, rows.dimension, shape.metric.value());
    if (fault == RowFault::none) continue;
    return fmt::format("rows[{}]: a vector came (id {}) that {}; others are allowed", i,
                       request.ids(static_cast<int>(i)), to_string(fault));
  }
  wrong = find_repeated(ids_of(request));
  return wrong.empty() ? check_attributes(batch, shape) : wrong;
}

changes::RowBatch batch_of(const wire::InsertRequest& request, const changes::RowShape& shape) {
  return {.rows = packed_view(request.rows().data(), static_cast<std::size_t>(request.ids_size()),
                              shape.dimension, shape.type),
          .ids = ids_of(request),
          .attributes = attributes_of(request)};
}

changes::ColumnValues values_of(const wire::UpdateRequest& request) {
  return {.columns = {request.columns().begin(), request.columns().end()},
          .values = attributes_of(request)};
}

wire::ElementType to_wire(ElementType type) {
  switch (type) {
    case ElementType::f32:
      return wire::ELEMENT_TYPE_F32;
    case ElementType::f16:
      return wire::ELEMENT_TYPE_F16;
    case ElementType::u8:
      return wire::ELEMENT_TYPE_U8;
    case ElementType::i8:
      return wire::ELEMENT_TYPE_I8;
    case ElementType::b1:
      return wire::ELEMENT_TYPE_B1;
  }
  return wire::ELEMENT_TYPE_UNSPECIFIED;
}

}  // namespace farvec::compute_node
