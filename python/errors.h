// Failures as Python's exceptions, in the tool's words.
#pragma once

#include <fmt/format.h>
#include <nanobind/nanobind.h>

#include <string_view>
#include <utility>

#include "base/status_error.h"

namespace farvec::python {

/// Has the module raise farvec.errors: StatusError by its code, other Errors as Error.
void register_errors();

/// A str of bytes that may be no UTF-8, as names of folders are: such bytes are shown with
/// backslashes.
nanobind::str as_text(std::string_view bytes);

/// A StatusError that becomes farvec.InvalidArgument.
template <typename... Args>
[[noreturn]] void throw_invalid(fmt::format_string<Args...> format, Args&&... args) {
  throw StatusError(StatusCode::invalid_argument, format, std::forward<Args>(args)...);
}

/// What `parse` makes of the value of an argument; what it refuses becomes farvec.InvalidArgument
/// and names the argument.
template <typename Parse, typename... Values>
auto parsed(std::string_view argument, const Parse& parse, const Values&... values) {
  try {
    return parse(values...);
  } catch (const StatusError&) {
    throw;
  } catch (const Error& error) {
    throw_invalid("{}: {}", argument, error.what());
  }
}

}  // namespace farvec::python
