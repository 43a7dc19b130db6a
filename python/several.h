// A Several is an argument of which a call takes one value or several.
#pragma once

#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace farvec::python {

template <typename T>
using Several = std::variant<T, std::vector<T>>;

/// Is a number, or a word that the tool also has.
using NumberOrWord = std::variant<std::int64_t, std::string>;

/// Throws StatusError (invalid_argument) naming the argument when there is no value.
void require_some(bool some, std::string_view name);

template <typename T>
std::vector<T> all_of(const Several<T>& values, std::string_view name) {
  if (const auto* const one = std::get_if<T>(&values)) return {*one};
  require_some(!std::get<std::vector<T>>(values).empty(), name);
  return std::get<std::vector<T>>(values);
}

/// Returns the numbers, each of which is `least` or more. Throws StatusError (invalid_argument)
/// naming the argument.
std::vector<std::uint32_t> numbers_of(const Several<std::int64_t>& values, std::string_view name,
                                      std::uint32_t least = 1);

/// Return the values in the form of the tool's option: "on,off", "20%,1000".
std::string listed(const std::vector<std::string>& words);
std::string listed(const Several<NumberOrWord>& values, std::string_view name);
std::string listed_switches(const Several<bool>& values, std::string_view name);

}  // namespace farvec::python
