// A Backoff decides when a client asks a busy node again.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/random.h"

namespace farvec::client {

/// Chooses the waits between the attempts at one call: about 10 ms at first, twice as long each
/// time, at most a second. Half of each is random, so that clients that were refused together do
/// not come back together.
class Backoff {
 public:
  /// Allows up to `retries` attempts after the first one. `random` is borrowed.
  Backoff(std::uint32_t retries, Random& random) : left_(retries), random_(random) {}

  /// Returns how long to wait before the next attempt; none when this attempt was the last one. The
  /// wait is at least what the node asked for, but never more than 10 s.
  std::optional<std::chrono::milliseconds> next(std::chrono::milliseconds node_asks);

 private:
  std::uint32_t left_;
  Random& random_;
  double wait_ms_ = 10;
};

}  // namespace farvec::client
