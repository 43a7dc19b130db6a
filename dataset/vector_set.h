// A VectorSet is a whole vector file in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "base/memory.h"
#include "base/types.h"
#include "dataset/vector_file.h"

namespace farvec::dataset {

struct LoadOptions {
  /// Drops rows that hold NaN or infinity, or are too long for the metric, instead of refusing the
  /// file. Rows after a dropped one move up, so their ids are no longer row numbers of the file.
  bool allow_nonfinite = false;
  std::uint64_t first_row = 0;
  /// At most this many rows are read, from first_row on.
  std::uint64_t max_rows = std::numeric_limits<std::uint64_t>::max();
  /// The metric by which the rows are going to be compared, where it is known: see
  /// RowFault::too_long.
  std::optional<Metric> metric = std::nullopt;
};

/// A VectorSet holds packed rows in huge pages. Movable, not copyable.
class VectorSet {
 public:
  /// Makes zeroed rows, to be filled through mutable_row().
  VectorSet(std::size_t count, std::uint32_t dimension, ElementType type);

  /// Is valid as long as this set lives and is not moved from.
  VectorView view() const { return packed_view(buffer_.data(), count_, dimension_, type_); }
  std::byte* mutable_row(std::size_t i) { return buffer_.data() + i * view().row_bytes(); }
  /// Removes the rows from `count` on.
  void truncate(std::size_t count);

  std::size_t count() const { return count_; }
  std::uint32_t dimension() const { return dimension_; }
  ElementType type() const { return type_; }
  /// Says whether the file held float64.
  bool rounded() const { return rounded_; }
  void set_rounded(bool rounded) { rounded_ = rounded; }
  /// Returns the number of rows that had no distances to others and were left out.
  std::size_t dropped() const { return dropped_; }
  void set_dropped(std::size_t dropped) { dropped_ = dropped; }

 private:
  HugeBuffer buffer_;
  std::size_t count_;
  std::uint32_t dimension_;
  ElementType type_;
  std::size_t dropped_ = 0;
  bool rounded_ = false;
};

/// Reads the file (see open_vectors() for the formats). Throws Error when it is damaged, when no
/// row remains, when the metric cannot compare its type, or when a row has no distances to others
/// and that is not allowed.
VectorSet load(const std::string& path, const LoadOptions& options = {});
/// Does the same with a file that is open.
VectorSet load(VectorReader& reader, const LoadOptions& options = {});

}  // namespace farvec::dataset
