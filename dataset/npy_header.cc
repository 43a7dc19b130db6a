#include "dataset/npy_header.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>

#include "base/check.h"
#include "base/error.h"
#include "base/memory.h"

namespace farvec::dataset {
namespace {

constexpr std::string_view kBlank = " \t\n";
constexpr std::size_t kNpyPrefixBytes = 12;  // magic, version, length: 2 bytes in version 1, else 4
constexpr std::uint64_t kMaxDictionaryBytes = 1u << 16;
constexpr std::size_t kShownBytes = 60;

/// The text after `'key':`, without leading blanks.
std::string_view value_of(std::string_view text, std::string_view key, const std::string& path) {
  for (const char quote : {'\'', '"'}) {
    const std::string quoted = std::string(1, quote).append(key).append(1, quote);
    std::size_t at = text.find(quoted);
    if (at == std::string_view::npos) continue;
    at = text.find_first_not_of(kBlank, at + quoted.size());
    if (at == std::string_view::npos || text[at] != ':') continue;
    at = text.find_first_not_of(kBlank, at + 1);
    if (at != std::string_view::npos) return text.substr(at);
  }
  throw Error("'{}': the .npy header has no '{}': it is damaged", path, key);
}

/// Returns numpy's word for the elements, or what stands in its place.
std::string_view descr_of(std::string_view text, const std::string& path) {
  const std::string_view value = value_of(text, "descr", path);
  const bool quoted = value[0] == '\'' || value[0] == '"';
  const std::size_t end = quoted ? value.find(value[0], 1) : std::string_view::npos;
  const std::string_view descr =
      end != std::string_view::npos ? value.substr(1, end - 1) : value.substr(0, value.find(','));
  return descr.substr(0, kShownBytes);
}

ElementType type_of(std::string_view descr, const std::string& path) {
  if (descr == "<f4") return ElementType::f32;
  if (descr == "<f2") return ElementType::f16;
  if (descr == "|u1" || descr == "<u1") return ElementType::u8;
  if (descr == "|i1" || descr == "<i1") return ElementType::i8;
  throw Error(
      "'{}' holds elements of numpy type '{}': save the array as little-endian float32, float16, "
      "uint8 or int8",
      path, descr);
}

/// Removes an integer from the front of `text`, with the blanks around it.
bool take_integer(std::string_view& text, std::uint64_t& value) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlank), text.size()));
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  text.remove_prefix(std::min(text.find_first_not_of(kBlank), text.size()));
  return true;
}

bool take(std::string_view& text, char expected) {
  if (text.empty() || text[0] != expected) return false;
  text.remove_prefix(1);
  return true;
}

/// Takes a tuple of as many integers as `lengths` has; a comma may follow them, as it does a single
/// one.
bool take_lengths(std::string_view& text, std::span<std::uint64_t> lengths) {
  if (!take(text, '(')) return false;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if ((i > 0 && !take(text, ',')) || !take_integer(text, lengths[i])) return false;
  }
  take(text, ',');
  return take(text, ')');
}

/// Reads order and shape of an array with as many dimensions as `lengths` has; `wanted` says them.
void parse_lengths(std::string_view text, std::span<std::uint64_t> lengths, const char* wanted,
                   const std::string& path) {
  if (!value_of(text, "fortran_order", path).starts_with("False")) {
    throw Error("'{}' is in Fortran order: save numpy.ascontiguousarray(array) instead", path);
  }
  std::string_view rest = value_of(text, "shape", path);
  const std::string_view value = rest.substr(0, rest.find(')'));
  if (take_lengths(rest, lengths)) return;
  throw Error("'{}' has the shape {}): it must be {}", path, value, wanted);
}

}  // namespace

NpyText read_npy_text(const InputFile& file) {
  std::array<char, kNpyPrefixBytes> prefix{};
  if (file.size() < kNpyPrefixBytes) {
    throw Error("'{}' has {} bytes, less than an .npy header: it is truncated", file.path(),
                file.size());
  }
  file.read_at(0, prefix.data(), kNpyPrefixBytes);
  const std::string_view magic(prefix.data(), 6);
  const char version = prefix[6];
  if (magic != "\x93NUMPY" || version < 1 || version > 3) {
    throw Error("'{}' does not begin as an .npy file of version 1, 2 or 3", file.path());
  }
  const std::uint64_t begin = version == 1 ? 10 : 12;
  const std::uint64_t length = version == 1 ? load_unaligned<std::uint16_t>(&prefix[8])
                                            : load_unaligned<std::uint32_t>(&prefix[8]);
  if (length > kMaxDictionaryBytes || begin + length > file.size()) {
    throw Error("'{}': the .npy header says it has {} bytes, the file has {}: it is damaged",
                file.path(), length, file.size());
  }
  NpyText text{std::string(length, '\0'), begin + length};
  file.read_at(begin, text.dictionary.data(), length);
  return text;
}

NpyShape parse_npy_dictionary(std::string_view text, const std::string& path) {
  NpyShape shape;
  shape.type = type_of(descr_of(text, path), path);
  std::array<std::uint64_t, 2> lengths{};
  parse_lengths(text, lengths, "two-dimensional (rows, dimension)", path);
  shape.rows = lengths[0];
  shape.columns = lengths[1];
  return shape;
}

NpyVector parse_npy_vector(std::string_view text, const std::string& path) {
  NpyVector vector{0, std::string(descr_of(text, path))};
  parse_lengths(text, {&vector.rows, 1}, "one-dimensional (rows,)", path);
  return vector;
}

std::string make_npy_header(const NpyShape& shape) {
  const char* descr = "<f4";
  if (shape.type == ElementType::f16) descr = "<f2";
  if (shape.type == ElementType::u8) descr = "|u1";
  if (shape.type == ElementType::i8) descr = "|i1";
  std::string header("\x93NUMPY\x01\x00\x76\x00", 10);
  header += fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}, {}), }}", descr,
                        shape.rows, shape.columns);
  header.resize(kNpyHeaderBytes - 1, ' ');
  header += '\n';
  static_assert(kNpyHeaderBytes == 10 + 0x76);
  return header;
}

}  // namespace farvec::dataset
