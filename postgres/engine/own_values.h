// OwnValues are the values of columns that rows have which share the vertex of another row: those
// of the vertex may be others (docs/decisions/073).
#pragma once

#include "layout/collection/alias_file.h"
#include "postgres/engine/flat_map.h"
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace farvec::postgres {

/// A row that is not known here has the values of its vertex. Any number of threads may read it
/// while none changes it.
class OwnValues {
 public:
  /// Adds a row that is not known, and says whether its values differ from those of its vertex.
  void add(std::uint64_t vid, std::uint64_t host, std::span<const std::byte> tuple, bool differs);
  void erase(std::uint64_t vid);
  /// Says which tuple the vertex of a row has now. Does nothing where the row is not known.
  void vertex_has(std::uint64_t vid, std::span<const std::byte> tuple);

  bool differs(std::uint64_t vid) const;
  /// Returns its tuple; empty: it is not known.
  std::span<const std::byte> find(std::uint64_t vid) const;
  /// Returns how many rows of a vertex differ from it.
  std::uint64_t differing_from(std::uint64_t host) const;
  /// Returns how many rows differ from their vertices.
  std::size_t differing() const { return differing_; }
  /// Calls visit(vid, host, tuple) for each of these.
  template <typename Visit>
  void for_differing(const Visit& visit) const {
    rows_.for_each([&](std::uint64_t vid, const Row& row) {
      if (row.differs != 0) visit(vid, row.host, tuple_of(row));
    });
  }

  /// Returns a number that is another one after each change of what differs.
  std::uint64_t changes() const { return changes_; }

  layout::OwnTuples list() const;
  std::size_t bytes() const { return rows_.bytes() + hosts_.bytes() + tuples_.capacity(); }
  /// Returns the bytes that it has at most after one more row came.
  std::size_t bytes_of_next(std::size_t tuple_bytes) const;

 private:
  struct Row {
    std::uint64_t host = 0;
    std::uint64_t begin = 0;  ///< where its tuple begins
    std::uint32_t bytes = 0;
    std::uint32_t differs = 0;
  };

  std::span<const std::byte> tuple_of(const Row& row) const {
    return std::span(tuples_).subspan(row.begin, row.bytes);
  }
  void count(Row& row, bool differs);
  void make_dense();

  FlatMap<Row> rows_;
  FlatMap<std::uint64_t> hosts_;  ///< how many rows differ; none has 0
  std::vector<std::byte> tuples_;
  std::size_t dead_ = 0;  ///< bytes of tuples that no row has
  std::size_t differing_ = 0;
  std::uint64_t changes_ = 0;
};

}  // namespace farvec::postgres
