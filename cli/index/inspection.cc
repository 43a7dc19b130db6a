#include "cli/index/inspection.h"

#include <fmt/format.h>

namespace farvec::cli {

std::string grouped(std::uint64_t value) {
  const std::string digits = std::to_string(value);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

void print_line(const char* name, const std::string& value) {
  fmt::print("{:<12} {}\n", name, value);
}

}  // namespace farvec::cli
