// Completions that take their time.
#pragma once

#include <chrono>
#include <vector>

#include "tests/unit/transport/test_regions.h"

namespace farvec::transport {

/// Polls until `count` completions have come or patience ends: a peer's death takes its time.
inline std::vector<Completion> await(Endpoint& endpoint, std::size_t count) {
  std::vector<Completion> found;
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::seconds(30);
  while (found.size() < count && Clock::now() < end) {
    const auto some = collect(endpoint, 1);
    found.insert(found.end(), some.begin(), some.end());
  }
  return found;
}

}  // namespace farvec::transport
