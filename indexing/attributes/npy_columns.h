// NpyColumns read the attributes of rows from .npy files, one for each column.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "layout/attributes/schema.h"
#include "layout/attributes/tuple.h"

namespace farvec::indexing {

/// Says whether a text names such files: "price=price.npy,year=year.npy".
bool names_npy_columns(std::string_view text);

/// Reads all files together, in bounded memory. A file has a comma in its name only where no
/// ".npy" stands before it.
class NpyColumns {
 public:
  /// `text` names files; `schema` is borrowed. Throws Error for a file without a column, a column
  /// that the schema does not have or that comes twice, files of different numbers of rows, and
  /// what dataset::NpyColumn refuses.
  NpyColumns(std::string_view text, const layout::Schema& schema);
  ~NpyColumns();

  /// Returns which column of the schema each file is.
  const std::vector<std::size_t>& columns() const { return columns_; }
  /// Returns the text, and the number of the row that came last: "'price=price.npy', row 3".
  std::string place() const;

  /// Gives the next row's values, one for each file; false after the last row. NaT is null. Throws
  /// Error naming file, row and column for a value that is not exactly of the column's type, and
  /// for a truth value that is neither 0 nor 1.
  bool next(std::span<layout::Value> values);

 private:
  class File;

  const std::string text_;
  std::vector<std::size_t> columns_;
  std::vector<std::unique_ptr<File>> files_;
  std::uint64_t rows_ = 0;
  std::uint64_t read_ = 0;  ///< rows that next() has given
};

}  // namespace farvec::indexing
