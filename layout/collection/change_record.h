// Records of a collection's log: rows that were inserted, or ids that were erased.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/types.h"
#include "layout/collection/collection_format.h"

namespace farvec::layout {

enum class RowChangeKind : std::uint8_t {
  insert = 1,  ///< of new rows, or in place of those that have the ids
  erase = 2,
};

/// Begins a record, little-endian; see docs/format.md. The ids follow, 8 bytes each, and behind
/// those of an insert its rows, packed. The log has the checksum.
struct RowChangeHeader {
  std::uint16_t format_version = kCollectionVersion;
  RowChangeKind kind = RowChangeKind::insert;
  ElementType type = ElementType::f32;  ///< of the stored rows; erase: 0
  std::uint32_t dimension = 0;          ///< of the rows; erase: 0
  std::uint64_t version = 0;            ///< of the first change; 1 or more
  std::uint32_t count = 0;              ///< changes; 1 or more
  std::uint32_t reserved = 0;
};
static_assert(sizeof(RowChangeHeader) == 24);
static_assert(offsetof(RowChangeHeader, kind) == 2 && offsetof(RowChangeHeader, type) == 3);
static_assert(offsetof(RowChangeHeader, dimension) == 4);
static_assert(offsetof(RowChangeHeader, version) == 8);
static_assert(offsetof(RowChangeHeader, count) == 16);

/// Of a record; larger batches are several.
inline constexpr std::uint64_t kMostChangeBytes = std::uint64_t{1} << 20;

/// Changes that fit a record of kMostChangeBytes, whose rows have `row_bytes`, of erases 0.
constexpr std::uint32_t changes_per_record(std::size_t row_bytes) {
  return static_cast<std::uint32_t>((kMostChangeBytes - sizeof(RowChangeHeader)) /
                                    (sizeof(std::uint64_t) + row_bytes));
}
static_assert(changes_per_record(kMaxDimension * sizeof(float)) >= 1);

/// A record as wal::Log::append() takes it: header, ids, rows. Borrows ids and rows and copies
/// neither; rows with gaps between them are a part each. The i-th change has version + i.
class RowChangeRecord {
 public:
  /// At least one id, a row for each, at most changes_per_record(rows.row_bytes()).
  static RowChangeRecord insert(std::uint64_t version, std::span<const std::uint64_t> ids,
                                const VectorView& rows);
  /// At least one id, at most changes_per_record(0).
  static RowChangeRecord erase(std::uint64_t version, std::span<const std::uint64_t> ids);
  RowChangeRecord(const RowChangeRecord&) = delete;
  RowChangeRecord& operator=(const RowChangeRecord&) = delete;

  /// As long as this object lives.
  std::span<const std::span<const std::byte>> parts() const { return parts_; }

 private:
  RowChangeRecord(const RowChangeHeader& header, std::span<const std::uint64_t> ids,
                  const VectorView& rows);

  RowChangeHeader header_;
  std::vector<std::span<const std::byte>> parts_;
};

/// What a record says.
struct RowChanges {
  RowChangeKind kind = RowChangeKind::insert;
  std::uint64_t version = 0;  ///< of the first; the i-th has version + i
  std::vector<std::uint64_t> ids;
  /// Of an insert, by position in `ids`; of an erase none. Lie in the record, at any alignment: a
  /// record that begins at a multiple of 8, as the log's do, has them at one.
  VectorView rows;

  std::uint64_t last_version() const { return version + (ids.size() - 1); }
};

/// The stored rows of a collection.
struct RowShape {
  ElementType type = ElementType::f32;
  std::uint32_t dimension = 0;
};

/// Takes apart a record that lies at any address. Throws Error that begins with `source` (file and
/// position) and says what is wrong: another version, kind or shape, a length beyond
/// kMostChangeBytes or that does not fit the count, versions that overflow, an id twice. Rows are
/// not looked at: one may have a RowFault.
RowChanges decode_row_changes(std::span<const std::byte> record, const RowShape& shape,
                              std::string_view source);

}  // namespace farvec::layout
