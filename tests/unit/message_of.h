// What an action says when it fails.
#pragma once

#include <functional>
#include <string>

#include "base/error.h"

namespace farvec::tests {

/// Empty when it does not fail.
inline std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace farvec::tests
