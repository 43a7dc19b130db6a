// A RowChangeRecord is a record of a collection's log: rows that were inserted, ids that were
// erased, or rows whose attributes were updated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/types.h"
#include "layout/attributes/tuple.h"
#include "layout/collection/collection_format.h"

namespace farvec::layout {

enum class RowChangeKind : std::uint8_t {
  insert = 1,  ///< new rows, or rows in place of those that have the ids
  erase = 2,
  attributed_insert = 3,  ///< an insert of rows with attributes
  update = 4,             ///< all attributes of rows that are there
};

/// Says whether a record of this kind has rows.
constexpr bool inserts_rows(RowChangeKind kind) {
  return kind == RowChangeKind::insert || kind == RowChangeKind::attributed_insert;
}
/// Says whether it has attributes.
constexpr bool has_attributes(RowChangeKind kind) {
  return kind == RowChangeKind::attributed_insert || kind == RowChangeKind::update;
}

/// Begins a record, little-endian; see docs/format.md. The ids follow, 8 bytes each, and for an
/// insert its rows after them, packed. Where it has attributes, 4 bytes for each row say where
/// its tuple ends, and the tuples follow (layout/attributes/tuple.h). The log has the checksum.
struct RowChangeHeader {
  std::uint16_t format_version = kCollectionVersion;
  RowChangeKind kind = RowChangeKind::insert;
  ElementType type = ElementType::f32;  ///< type of the stored rows; 0 where it has none
  std::uint32_t dimension = 0;          ///< dimension of the rows; 0 where it has none
  std::uint64_t version = 0;            ///< version of the first change; 1 or more
  std::uint32_t count = 0;              ///< number of changes; 1 or more
  std::uint32_t reserved = 0;
};
static_assert(sizeof(RowChangeHeader) == 24);
static_assert(offsetof(RowChangeHeader, kind) == 2 && offsetof(RowChangeHeader, type) == 3);
static_assert(offsetof(RowChangeHeader, dimension) == 4);
static_assert(offsetof(RowChangeHeader, version) == 8);
static_assert(offsetof(RowChangeHeader, count) == 16);

/// The most bytes of a record; larger batches become several records.
inline constexpr std::uint64_t kMostChangeBytes = std::uint64_t{1} << 20;

/// Says how many changes fit a record of kMostChangeBytes, when a row has `row_bytes` bytes; 0
/// where a record has no rows.
constexpr std::uint32_t changes_per_record(std::size_t row_bytes) {
  return static_cast<std::uint32_t>((kMostChangeBytes - sizeof(RowChangeHeader)) /
                                    (sizeof(std::uint64_t) + row_bytes));
}
static_assert(changes_per_record(kMaxVectorBytes) >= 1);

/// Says how many of the first rows, of `row_bytes` bytes each, fit a record with their attributes;
/// at least 1.
std::uint32_t changes_per_record(std::size_t row_bytes, const TupleView& attributes);
static_assert(changes_per_record(kMaxVectorBytes + sizeof(std::uint32_t) + kMostTupleBytes) >= 1);

/// A RowChangeRecord is a record in the form that wal::Log::append() takes: header, ids, rows. It
/// borrows ids and rows and copies neither; rows with gaps between them become a part each. The
/// i-th change has version + i.
class RowChangeRecord {
 public:
  /// Takes at least one id, a row for each, a tuple for each or none at all, and at most
  /// changes_per_record().
  static RowChangeRecord insert(std::uint64_t version, std::span<const std::uint64_t> ids,
                                const VectorView& rows, const TupleView& attributes = {});
  /// Takes at least one id, and at most changes_per_record(0).
  static RowChangeRecord erase(std::uint64_t version, std::span<const std::uint64_t> ids);
  /// Takes at least one id, a tuple for each, and at most changes_per_record(0, attributes).
  static RowChangeRecord update(std::uint64_t version, std::span<const std::uint64_t> ids,
                                const TupleView& attributes);
  RowChangeRecord(const RowChangeRecord&) = delete;
  RowChangeRecord& operator=(const RowChangeRecord&) = delete;

  /// Is valid as long as this object lives.
  std::span<const std::span<const std::byte>> parts() const { return parts_; }

 private:
  RowChangeRecord(const RowChangeHeader& header, std::span<const std::uint64_t> ids,
                  const VectorView& rows, const TupleView& attributes);
  void add(const TupleView& attributes);

  RowChangeHeader header_;
  std::vector<std::uint32_t> ends_;  ///< where the tuples end, when the first begins at 0
  std::vector<std::span<const std::byte>> parts_;
};

/// RowChanges are the contents of a record.
struct RowChanges {
  RowChangeKind kind = RowChangeKind::insert;
  std::uint64_t version = 0;  ///< version of the first change; the i-th has version + i
  std::vector<std::uint64_t> ids;
  /// The rows of an insert, in the order of `ids`; none for another kind. They are in the record,
  /// at any alignment. In a record that begins at a multiple of 8, which the log's do, they are at
  /// a multiple of 8.
  VectorView rows;
  /// The attributes of the rows, where the kind has some; they are in the record too.
  std::vector<std::uint64_t> tuple_ends = {};
  std::span<const std::byte> tuple_bytes = {};

  TupleView attributes() const { return {tuple_ends, tuple_bytes, 0}; }
  std::uint64_t last_version() const { return version + (ids.size() - 1); }
};

/// A StoredShape is what a collection's stored rows are.
struct StoredShape {
  ElementType type = ElementType::f32;
  std::uint32_t dimension = 0;
  Schema schema = {};
};

/// Takes apart a record at any address. Throws Error that begins with `source` (file and position)
/// and says what is wrong: another version, kind or shape, a length beyond kMostChangeBytes or that
/// does not fit the count, versions that overflow, an id twice, attributes that do not fit the
/// schema. Rows are not checked: one may have a RowFault.
RowChanges decode_row_changes(std::span<const std::byte> record, const StoredShape& shape,
                              std::string_view source);

}  // namespace farvec::layout
