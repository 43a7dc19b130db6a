#include "base/options_file.h"

#include <algorithm>

#include "base/error.h"
#include "base/input_file.h"

namespace farvec {
namespace {

constexpr std::uint64_t kMostFileBytes = std::uint64_t{1} << 20;
constexpr std::string_view kBlank = " \t\r";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

bool is_nothing(std::string_view text) {
  return text.empty() || text.front() == '#';
}

/// The value that `text` begins with, quotes included; empty when a quote is not closed.
std::string_view leading_value(std::string_view text) {
  if (!text.empty() && text.front() == '"') {
    const std::size_t end = text.find('"', 1);
    return end == std::string_view::npos ? std::string_view() : text.substr(0, end + 1);
  }
  return text.substr(0, std::min(text.size(), text.find_first_of(" \t\r#\"")));
}

/// What is wrong with a line, or nothing; `option` is what it says.
const char* parse_line(std::string_view text, OptionLine& option) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return "a line is NAME = VALUE";
  const std::string_view name = trimmed(text.substr(0, equals));
  if (name.empty() || name.find_first_of(" \t\"#") != std::string_view::npos) {
    return "the name before '=' is one word";
  }
  if (name.front() == '-') return "a name stands here without the dashes of the command line";
  const std::string_view rest = trimmed(text.substr(equals + 1));
  std::string_view value = leading_value(rest);
  if (value.empty() && !is_nothing(rest)) return "the closing quote is missing";
  if (!is_nothing(trimmed(rest.substr(value.size())))) {
    return "a value is one word, or stands between double quotes";
  }
  if (!value.empty() && value.front() == '"') value = value.substr(1, value.size() - 2);
  if (value.empty()) return "the value is missing; put # before an option that is not to be given";
  option.name = name;
  option.value = value;
  return nullptr;
}

}  // namespace

std::vector<OptionLine> parse_options(std::string_view text, const std::string& path) {
  std::vector<OptionLine> options;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.size(), text.find('\n'));
    const std::string_view said = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
    if (is_nothing(said)) continue;
    OptionLine option{"", "", line};
    if (const char* wrong = parse_line(said, option)) throw Error("{}:{}: {}", path, line, wrong);
    options.push_back(std::move(option));
  }
  return options;
}

std::vector<OptionLine> read_options_file(const std::string& path) {
  return parse_options(read_text(path, kMostFileBytes, "a file of options"), path);
}

}  // namespace farvec
