#include "cli/refusals.h"

#include <fmt/format.h>

#include <cstdio>
#include <memory>

namespace farvec::cli {

std::function<void(const std::string& why)> tell_refusals() {
  return [told = std::make_shared<std::string>()](const std::string& why) {
    if (why == *told) return;
    *told = why;
    fmt::print(stderr, "the node refuses, and is asked again: {}\n", why);
  };
}

}  // namespace farvec::cli
