#include "layout/collection/change_record.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/check.h"
#include "base/error.h"
#include "base/memory.h"
#include "layout/collection/repeated_id.h"

namespace farvec::layout {
namespace {

/// Leaves out the shape of the rows.
RowChangeHeader header_of(RowChangeKind kind, std::uint64_t version, std::size_t count,
                          std::size_t row_bytes) {
  FARVEC_CHECK(count >= 1 && count <= changes_per_record(row_bytes),
               "{} changes with rows of {} bytes are no record", count, row_bytes);
  FARVEC_CHECK(version >= 1, "the first change of a collection has version 1");
  RowChangeHeader header;
  header.kind = kind;
  header.version = version;
  header.count = static_cast<std::uint32_t>(count);
  return header;
}

/// Bytes of one row of a record; 0 where it has none.
std::size_t stored_row_bytes(const RowChangeHeader& header) {
  return inserts_rows(header.kind) ? packed_bytes(header.type, header.dimension) : 0;
}

void require_kind(const RowChangeHeader& header, const StoredShape& shape,
                  std::string_view source) {
  if (header.kind < RowChangeKind::insert || header.kind > RowChangeKind::update) {
    throw Error("{}: a record of kind {}, which is none of a collection: restore the log", source,
                static_cast<unsigned>(header.kind));
  }
  const StoredShape none{.type = ElementType{}, .dimension = 0};
  const StoredShape& expected = inserts_rows(header.kind) ? shape : none;
  if (header.type != expected.type || header.dimension != expected.dimension) {
    throw Error(
        "{}: a record of rows of {} elements of type {}, but it should have {} of type {}: the log "
        "is another collection's, restore its own",
        source, header.dimension, static_cast<unsigned>(header.type), expected.dimension,
        static_cast<unsigned>(expected.type));
  }
}

void require_counts(const RowChangeHeader& header, std::size_t bytes, std::string_view source) {
  const std::uint64_t expected =
      sizeof(header) +
      std::uint64_t{header.count} * (sizeof(std::uint64_t) + stored_row_bytes(header));
  if (bytes > kMostChangeBytes) {
    throw Error("{}: a record of {} bytes, more than {}: restore the log", source, bytes,
                kMostChangeBytes);
  }
  const bool attributed = has_attributes(header.kind);
  if (header.count == 0 || bytes < expected || (bytes > expected && !attributed)) {
    throw Error("{}: a record of {} changes has {} bytes, not {}: restore the log", source,
                header.count, bytes, expected);
  }
  if (header.version == 0 ||
      header.version > std::numeric_limits<std::uint64_t>::max() - header.count) {
    throw Error("{}: a record whose {} changes begin with version {}: restore the log", source,
                header.count, header.version);
  }
  if (header.reserved != 0) {
    throw Error("{}: a record whose reserved bytes are not zero: restore the log", source);
  }
}

/// Takes the attributes from the bytes after the ids and the rows.
void take_attributes(std::span<const std::byte> bytes, const Schema& schema,
                     std::string_view source, RowChanges& changes) {
  const std::size_t count = changes.ids.size();
  if (bytes.size() / sizeof(std::uint32_t) < count) {
    throw Error("{}: a record whose attributes have {} bytes for {} rows: restore the log", source,
                bytes.size(), count);
  }
  const std::byte* const ends = bytes.data();
  for (std::size_t i = 0; i < count; ++i) {
    changes.tuple_ends.push_back(load_unaligned<std::uint32_t>(ends + i * sizeof(std::uint32_t)));
  }
  changes.tuple_bytes = bytes.subspan(count * sizeof(std::uint32_t));
  check_tuples(changes.attributes(), schema, fmt::format("{}: restore the log: a record", source));
}

RowChangeHeader checked_header(std::span<const std::byte> record, const StoredShape& shape,
                               std::string_view source) {
  if (record.size() < sizeof(RowChangeHeader)) {
    throw Error("{}: a record of {} bytes cannot hold a header of {}: restore the log", source,
                record.size(), sizeof(RowChangeHeader));
  }
  const auto header = load_unaligned<RowChangeHeader>(record.data());
  require_collection_version(header.format_version, source);
  require_kind(header, shape, source);
  require_counts(header, record.size(), source);
  return header;
}

}  // namespace

RowChangeRecord::RowChangeRecord(const RowChangeHeader& header, std::span<const std::uint64_t> ids,
                                 const VectorView& rows, const TupleView& attributes)
    : header_(header), parts_{std::as_bytes(std::span(&header_, 1)), std::as_bytes(ids)} {
  const bool packed = rows.stride_bytes == rows.row_bytes();
  const std::size_t parts = packed ? std::min<std::size_t>(rows.count, 1) : rows.count;
  const std::size_t part_bytes = (packed ? rows.count : 1) * rows.row_bytes();
  for (std::size_t i = 0; i < parts; ++i) parts_.emplace_back(rows.row(i), part_bytes);
  if (attributes.count() > 0) add(attributes);
}

RowChangeRecord RowChangeRecord::insert(std::uint64_t version, std::span<const std::uint64_t> ids,
                                        const VectorView& rows, const TupleView& attributes) {
  FARVEC_CHECK(rows.count == ids.size(), "{} rows for {} ids", rows.count, ids.size());
  const auto kind =
      attributes.count() > 0 ? RowChangeKind::attributed_insert : RowChangeKind::insert;
  RowChangeHeader header = header_of(kind, version, ids.size(), rows.row_bytes());
  header.type = rows.type;
  header.dimension = rows.dimension;
  return {header, ids, rows, attributes};
}

void RowChangeRecord::add(const TupleView& attributes) {
  FARVEC_CHECK(attributes.count() == header_.count, "{} tuples for {} rows", attributes.count(),
               header_.count);
  for (const std::uint64_t end : attributes.ends) {
    ends_.push_back(static_cast<std::uint32_t>(end - attributes.begin));
  }
  parts_.push_back(std::as_bytes(std::span(ends_)));
  parts_.push_back(attributes.bytes.subspan(attributes.begin, ends_.back()));
}

std::uint32_t changes_per_record(std::size_t row_bytes, const TupleView& attributes) {
  const std::uint32_t most = changes_per_record(row_bytes);
  if (attributes.count() == 0) return most;
  const std::size_t fixed = sizeof(std::uint64_t) + row_bytes + sizeof(std::uint32_t);
  std::uint64_t bytes = sizeof(RowChangeHeader);
  std::uint32_t count = 0;
  for (; count < std::min<std::size_t>(most, attributes.count()); ++count) {
    bytes += fixed + attributes.row(count).size();
    if (bytes > kMostChangeBytes) break;
  }
  return std::max(count, 1u);
}

RowChangeRecord RowChangeRecord::erase(std::uint64_t version, std::span<const std::uint64_t> ids) {
  return {header_of(RowChangeKind::erase, version, ids.size(), 0), ids, {}, {}};
}

RowChangeRecord RowChangeRecord::update(std::uint64_t version, std::span<const std::uint64_t> ids,
                                        const TupleView& attributes) {
  return {header_of(RowChangeKind::update, version, ids.size(), 0), ids, {}, attributes};
}

RowChanges decode_row_changes(std::span<const std::byte> record, const StoredShape& shape,
                              std::string_view source) {
  const RowChangeHeader header = checked_header(record, shape, source);
  RowChanges changes{header.kind, header.version, std::vector<std::uint64_t>(header.count), {}};
  const auto ids = record.subspan(sizeof(header), header.count * sizeof(std::uint64_t));
  std::memcpy(changes.ids.data(), ids.data(), ids.size());
  if (const auto twice = repeated_id(changes.ids)) {
    throw Error("{}: a record that changes id {} twice: restore the log", source, *twice);
  }
  std::size_t rows_end = sizeof(header) + ids.size();
  if (inserts_rows(header.kind)) {
    changes.rows =
        packed_view(record.data() + rows_end, header.count, header.dimension, header.type);
    rows_end += changes.rows.row_bytes() * header.count;
  }
  if (has_attributes(header.kind)) {
    take_attributes(record.subspan(rows_end), shape.schema, source, changes);
  }
  return changes;
}

}  // namespace farvec::layout
