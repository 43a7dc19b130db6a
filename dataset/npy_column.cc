#include "dataset/npy_column.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/error.h"
#include "dataset/npy_header.h"

namespace farvec::dataset {
namespace {

constexpr std::array<std::string_view, 7> kUnits{"D", "h", "m", "s", "ms", "us", "ns"};

[[noreturn]] void refuse_type(std::string_view type, const std::string& path) {
  throw Error(
      "'{}' holds elements of numpy type '{}': save an array of bools, of integers or floats of at "
      "most 64 bits, or of datetime64, little-endian",
      path, type);
}

/// Returns the unit of "<M8[us]"; nothing for other types, and for units that have other lengths.
std::string_view unit_of(std::string_view type) {
  if (!type.starts_with("<M8[") || !type.ends_with(']')) return {};
  const std::string_view unit = type.substr(4, type.size() - 5);
  return std::find(kUnits.begin(), kUnits.end(), unit) == kUnits.end() ? std::string_view() : unit;
}

NpyElement element_of(std::string_view type, const std::string& path) {
  if (type == "|b1") return {NpyKind::boolean, 1};
  if (const auto unit = unit_of(type); !unit.empty()) return {NpyKind::time, 8, std::string(unit)};
  if (type.size() != 3 || (type[0] != '<' && !(type[0] == '|' && type[2] == '1'))) {
    refuse_type(type, path);
  }
  const auto bytes = static_cast<std::size_t>(type[2] - '0');
  const bool is_length = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
  if (type[1] == 'u' && is_length) return {NpyKind::unsigned_integer, bytes};
  if (type[1] == 'i' && is_length) return {NpyKind::signed_integer, bytes};
  if (type[1] == 'f' && is_length && bytes > 1) return {NpyKind::floating, bytes};
  refuse_type(type, path);
}

}  // namespace

NpyColumn::NpyColumn(const std::string& path) : file_(path) {
  const NpyText text = read_npy_text(file_);
  const NpyVector vector = parse_npy_vector(text.dictionary, path);
  element_ = element_of(vector.type, path);
  rows_ = vector.rows;
  offset_ = text.end;
  const std::uint64_t bytes = file_.size() - offset_;
  if (bytes % element_.bytes == 0 && bytes / element_.bytes == rows_) return;
  throw Error("'{}' has {} bytes after its header, which says that there are {} rows of {}", path,
              bytes, rows_, element_.bytes);
}

void NpyColumn::read(std::uint64_t first, std::size_t count, std::byte* out) const {
  file_.read_at(offset_ + first * element_.bytes, out, count * element_.bytes);
}

}  // namespace farvec::dataset
