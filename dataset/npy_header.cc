#include "dataset/npy_header.h"

#include <charconv>

#include "base/check.h"
#include "base/error.h"

namespace farvec::dataset {
namespace {

constexpr std::string_view kBlank = " \t\n";

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

ElementType parse_descr(std::string_view value, const std::string& path) {
  const std::size_t end = value.size() < 2 ? 0 : value.find(value[0], 1);
  const bool quoted = !value.empty() && (value[0] == '\'' || value[0] == '"');
  const auto descr =
      quoted && end != std::string_view::npos ? value.substr(1, end - 1) : std::string_view();
  if (descr == "<f4") return ElementType::f32;
  if (descr == "<f2") return ElementType::f16;
  if (descr == "|u1" || descr == "<u1") return ElementType::u8;
  if (descr == "|i1" || descr == "<i1") return ElementType::i8;
  throw Error(
      "'{}' holds elements of numpy type {}: save the array as little-endian float32, float16, "
      "uint8 or int8",
      path, value.substr(0, value.find(',')));
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

}  // namespace

NpyShape parse_npy_dictionary(std::string_view text, const std::string& path) {
  NpyShape shape;
  shape.type = parse_descr(value_of(text, "descr", path), path);
  if (!value_of(text, "fortran_order", path).starts_with("False")) {
    throw Error("'{}' is in Fortran order: save numpy.ascontiguousarray(array) instead", path);
  }
  std::string_view rest = value_of(text, "shape", path);
  const std::string_view value = rest.substr(0, rest.find(')'));
  if (!take(rest, '(') || !take_integer(rest, shape.rows) || !take(rest, ',') ||
      !take_integer(rest, shape.columns) || (take(rest, ','), !take(rest, ')'))) {
    throw Error("'{}' has the shape {}): it must be two-dimensional (rows, dimension)", path,
                value);
  }
  return shape;
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
