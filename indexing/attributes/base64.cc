#include "indexing/attributes/base64.h"

#include <cstdint>

namespace farvec::indexing {
namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Writes up to three bytes as four digits.
void append_digits(std::string_view bytes, std::string& text) {
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    bits = bits << 8 | (i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0);
  }
  for (std::size_t i = 0; i < 4; ++i) {
    text += i <= bytes.size() ? kDigits[bits >> (18 - 6 * i) & 63] : '=';
  }
}

}  // namespace

std::string to_base64(std::string_view bytes) {
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) append_digits(bytes.substr(at, 3), text);
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  std::string bytes;
  std::uint32_t bits = 0;
  std::string_view digits = text;
  while (digits.ends_with('=')) digits.remove_suffix(1);
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const std::size_t digit = kDigits.find(digits[i]);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    // After i + 1 digits there are 6 * (i + 1) bits: a byte is whole at each digit but the first.
    if (i % 4 != 0) bytes += static_cast<char>(bits >> (6 - 2 * (i % 4)) & 0xff);
  }
  // Wrong padding, and bits after the last byte, make another text.
  if (to_base64(bytes) != text) return std::nullopt;
  return bytes;
}

}  // namespace farvec::indexing
