// Failures as Python's exceptions, in the tool's words.
#pragma once

#include <fmt/format.h>
#include <nanobind/nanobind.h>

#include <utility>

#include "base/status_error.h"

namespace farvec::python {

/// Has the module raise farvec.errors: StatusError by its code, other Errors as Error.
void register_errors();

/// A StatusError that becomes farvec.InvalidArgument.
template <typename... Args>
[[noreturn]] void throw_invalid(fmt::format_string<Args...> format, Args&&... args) {
  throw StatusError(StatusCode::invalid_argument, format, std::forward<Args>(args)...);
}

}  // namespace farvec::python
