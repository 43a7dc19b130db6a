// UnreachableError is the error after which another try makes sense.
#pragma once

#include "base/error.h"

namespace farvec {

/// The index cannot be reached now, but may come back.
class UnreachableError : public Error {
 public:
  using Error::Error;
};

/// No process listens at the address, which is known at once.
class AbsentError : public UnreachableError {
 public:
  using UnreachableError::UnreachableError;
};

}  // namespace farvec
