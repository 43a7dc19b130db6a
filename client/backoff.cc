#include "client/backoff.h"

#include <algorithm>

namespace farvec::client {
namespace {
constexpr double kLongestMs = 1'000;
constexpr std::chrono::milliseconds kPatience{10'000};
}  // namespace

std::optional<std::chrono::milliseconds> Backoff::next(std::chrono::milliseconds node_asks) {
  if (left_ == 0) return std::nullopt;
  --left_;
  const double wait_ms = wait_ms_ * (0.5 + random_.uniform() / 2);
  wait_ms_ = std::min(2 * wait_ms_, kLongestMs);
  const std::chrono::milliseconds wait(static_cast<std::int64_t>(wait_ms));
  return std::min(std::max(wait, node_asks), kPatience);
}

}  // namespace farvec::client
