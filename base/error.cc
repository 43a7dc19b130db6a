#include "base/error.h"

#include <system_error>

namespace farvec {

std::string SystemError::describe(int errno_value) {
  return fmt::format("{} (errno {})", std::system_category().message(errno_value), errno_value);
}

}  // namespace farvec
