// A Status of the data path, or of a call, as what set-up code and tools throw.
#pragma once

#include <utility>

#include "base/error.h"
#include "base/status.h"

namespace farvec {

/// An Error for those who have to know which of the codes it was.
class StatusError : public Error {
 public:
  template <typename... Args>
  StatusError(StatusCode status_code, fmt::format_string<Args...> format, Args&&... args)
      : Error(format, std::forward<Args>(args)...), code(status_code) {}

  StatusCode code;
};

}  // namespace farvec
