// The error that is worth another try.
#pragma once

#include "base/error.h"

namespace farvec {

/// The index is not there now but may come.
class UnreachableError : public Error {
 public:
  using Error::Error;
};

/// Nobody listens at the address, which is known at once.
class AbsentError : public UnreachableError {
 public:
  using UnreachableError::UnreachableError;
};

}  // namespace farvec
