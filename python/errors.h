// These functions turn failures into Python's exceptions, with messages in the words of Python.
#pragma once

#include <fmt/format.h>
#include <nanobind/nanobind.h>

#include <string_view>
#include <utility>

#include "base/status_error.h"

namespace farvec::python {

/// Has the module raise farvec.errors: a StatusError by its code, a node that cannot be reached as
/// Unavailable, other Errors and the system's as Error, a lack of memory as ResourceExhausted, and
/// what else C++ throws as Internal.
void register_errors();

/// Returns a str of bytes that may be no UTF-8, for instance a folder's name: such bytes are shown
/// with backslashes.
nanobind::str as_text(std::string_view bytes);

/// Throws a StatusError that becomes farvec.InvalidArgument.
template <typename... Args>
[[noreturn]] void throw_invalid(fmt::format_string<Args...> format, Args&&... args) {
  throw StatusError(StatusCode::invalid_argument, format, std::forward<Args>(args)...);
}

/// Returns what `parse` makes of the value of an argument. A value that it refuses becomes
/// farvec.InvalidArgument, which names the argument.
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
