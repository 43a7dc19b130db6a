#include "python/several.h"

#include <limits>

#include "python/arrays.h"
#include "python/errors.h"

namespace farvec::python {

void require_some(bool some, std::string_view name) {
  if (!some) throw_invalid("{}: there is none: give at least one", name);
}

std::vector<std::uint32_t> numbers_of(const Several<std::int64_t>& values, std::string_view name,
                                      std::uint32_t least) {
  std::vector<std::uint32_t> numbers;
  for (const std::int64_t value : all_of(values, name)) {
    numbers.push_back(within(value, name, least, std::numeric_limits<std::uint32_t>::max()));
  }
  return numbers;
}

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += ',';
    text += word;
  }
  return text;
}

std::string listed(const Several<NumberOrWord>& values, std::string_view name) {
  std::vector<std::string> words;
  for (const NumberOrWord& value : all_of(values, name)) {
    const auto* const number = std::get_if<std::int64_t>(&value);
    words.push_back(number != nullptr ? std::to_string(*number) : std::get<std::string>(value));
  }
  return listed(words);
}

std::string listed_switches(const Several<bool>& values, std::string_view name) {
  std::vector<std::string> words;
  for (const bool value : all_of(values, name)) words.emplace_back(value ? "on" : "off");
  return listed(words);
}

}  // namespace farvec::python
