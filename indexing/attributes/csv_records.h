// CsvRecords reads records of comma-separated values (RFC 4180), in bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "indexing/attributes/line_reader.h"

namespace farvec::indexing {

struct CsvField {
  std::string text;
  bool quoted = false;

  bool operator==(const CsvField&) const = default;
};

/// Lines end with LF or CRLF. A field in quotes may hold commas, newlines, and quotes, each twice.
/// Blanks belong to the field. A byte order mark at the beginning of the file is skipped.
class CsvRecords {
 public:
  /// Throws what LineReader throws.
  explicit CsvRecords(const std::string& path);

  /// Gives the fields of the next record; false at the file's end. Throws what LineReader throws,
  /// and Error for quotes in the middle of a field, for quotes that nothing closes, for text after
  /// the closing ones, for a carriage return outside of quotes, and for a record longer than
  /// kMostLineBytes.
  bool next(std::vector<CsvField>& fields);

  /// Returns "'FILE', line 3", where the record begins.
  std::string place() const { return place_of(lines_.path(), first_line_); }

 private:
  CsvField take_field();
  std::string take_plain();
  std::string take_quoted();
  void append_line();
  bool at_end() const;
  [[noreturn]] void fail(const char* what) const;

  LineReader lines_;
  std::uint64_t first_line_ = 0;
  std::string record_;  ///< all its lines
  std::size_t at_ = 0;  ///< what comes next in the record
};

}  // namespace farvec::indexing
