// A StatusError carries a Status of the data path, or of a call, as an exception that set-up code
// and tools throw.
#pragma once

#include <utility>

#include "base/error.h"
#include "base/status.h"

namespace farvec {

/// A StatusError is an Error for code that has to know the status code.
class StatusError : public Error {
 public:
  template <typename... Args>
  StatusError(StatusCode status_code, fmt::format_string<Args...> format, Args&&... args)
      : Error(format, std::forward<Args>(args)...), code(status_code) {}

  StatusCode code;
};

}  // namespace farvec
