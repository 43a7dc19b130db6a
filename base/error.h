// Error and SystemError are what set-up code and tools throw. The data path returns base/status.h
// values instead.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace farvec {

/// An Error is a failure that a person has to read. It says what was tried, on what, and what to
/// do.
class Error : public std::runtime_error {
 public:
  template <typename... Args>
  explicit Error(fmt::format_string<Args...> format, Args&&... args)
      : std::runtime_error(fmt::format(format, std::forward<Args>(args)...)) {}
};

/// A SystemError is an Error whose text ends with errno's text, and which carries errno as `code`.
class SystemError : public Error {
 public:
  template <typename... Args>
  explicit SystemError(int errno_value, fmt::format_string<Args...> format, Args&&... args)
      : Error("{}: {}", fmt::format(format, std::forward<Args>(args)...), describe(errno_value)),
        code(errno_value) {}

  int code;

 private:
  static std::string describe(int errno_value);
};

}  // namespace farvec
