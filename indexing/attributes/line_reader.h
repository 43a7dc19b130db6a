// A LineReader reads a file of text line by line, in bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/input_file.h"

namespace farvec::indexing {

/// The most bytes of a line; one row has at most layout::kMostTupleBytes.
inline constexpr std::size_t kMostLineBytes = std::size_t{1} << 20;

class LineReader {
 public:
  /// Throws what InputFile throws.
  explicit LineReader(const std::string& path);

  /// Gives the next line without the newline that ends it; the last one needs none. The line lives
  /// until the next call. Returns false at the file's end. Throws Error where the line is longer
  /// than kMostLineBytes or no UTF-8, and what InputFile::read_at() throws.
  bool next(std::string_view& line);

  /// Returns the number of the line, counted from 1.
  std::uint64_t number() const { return number_; }
  const std::string& path() const { return file_.path(); }

 private:
  bool fill();

  const InputFile file_;
  std::uint64_t offset_ = 0;  ///< how much of the file has been read
  std::uint64_t number_ = 0;
  std::string buffer_;
  std::size_t begin_ = 0;  ///< where the next line begins in the buffer
};

/// Returns "'FILE', line 3".
std::string place_of(std::string_view path, std::uint64_t line);

}  // namespace farvec::indexing
