// FARVEC_CHECK tests invariants in every build, release builds included.
#pragma once

#include <fmt/format.h>

namespace farvec::detail {
[[noreturn]] void check_failed(const char* expression, const char* file, int line,
                               const std::string& message);
}

/// Aborts with the expression, the place and an optional fmt message when `condition` is false. It
/// is for broken invariants only, never for input or I/O.
#define FARVEC_CHECK(condition, ...)                                                     \
  do {                                                                                   \
    if (!(condition)) [[unlikely]] {                                                     \
      ::farvec::detail::check_failed(#condition, __FILE__, __LINE__,                     \
                                     std::string(__VA_OPT__(fmt::format(__VA_ARGS__)))); \
    }                                                                                    \
  } while (false)
