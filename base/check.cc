#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace farvec::detail {

void check_failed(const char* expression, const char* file, int line, const std::string& message) {
  fmt::print(stderr, "CHECK failed at {}:{}: {} {}\n", file, line, expression, message);
  std::fflush(stderr);
  std::abort();
}

}  // namespace farvec::detail
