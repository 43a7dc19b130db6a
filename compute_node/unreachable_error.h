// The error that is worth another try.
#pragma once

#include "base/error.h"

namespace farvec::compute_node {

/// The index is not there now but may come.
class UnreachableError : public Error {
 public:
  using Error::Error;
};

}  // namespace farvec::compute_node
