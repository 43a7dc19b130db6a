#include "indexing/attributes/line_reader.h"

#include <algorithm>

#include "base/error.h"
#include "base/file_names.h"

namespace farvec::indexing {
namespace {

constexpr std::size_t kBufferBytes = 2 * kMostLineBytes;

}  // namespace

LineReader::LineReader(const std::string& path) : file_(path) {}

bool LineReader::next(std::string_view& line) {
  std::size_t end = buffer_.find('\n', begin_);
  if (end == std::string::npos && fill()) end = buffer_.find('\n', begin_);
  if (end == std::string::npos && begin_ == buffer_.size()) return false;
  const bool ends = end != std::string::npos;
  line = std::string_view(buffer_).substr(begin_, (ends ? end : buffer_.size()) - begin_);
  begin_ += line.size() + (ends ? 1 : 0);
  ++number_;
  if (line.size() > kMostLineBytes) {
    throw Error("{}: the line has more than {} bytes", place_of(path(), number_), kMostLineBytes);
  }
  if (!is_utf8(line)) throw Error("{}: the line is no UTF-8", place_of(path(), number_));
  return true;
}

/// Moves what is left to the buffer's front, and fills the rest. The buffer is longer than a line
/// may be, so that one that does not end in it is refused. Returns false where nothing came.
bool LineReader::fill() {
  buffer_.erase(0, begin_);
  begin_ = 0;
  const std::uint64_t left = file_.size() - offset_;
  const std::size_t more = std::min<std::uint64_t>(left, kBufferBytes - buffer_.size());
  const std::size_t had = buffer_.size();
  buffer_.resize(had + more);
  file_.read_at(offset_, buffer_.data() + had, more);
  offset_ += more;
  return more > 0;
}

std::string place_of(std::string_view path, std::uint64_t line) {
  return fmt::format("'{}', line {}", path, line);
}

}  // namespace farvec::indexing
