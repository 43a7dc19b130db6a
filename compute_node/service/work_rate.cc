#include "compute_node/service/work_rate.h"

#include <algorithm>

namespace farvec::compute_node {
namespace {
constexpr std::uint32_t kSamples = 64;
/// Fewer samples say nothing.
constexpr std::uint32_t kLeastSamples = 8;
/// A pause of the whole process counts as one long search, not as a new rate.
constexpr double kLongestStep = 4;
constexpr double kForgetAfterUs = 1e6;
constexpr double kForgetAfterSearches = 8;
}  // namespace

void WorkRate::took(Ticks now) {
  if (dry_) full_since_ = now;
  dry_ = false;
}

void WorkRate::ended(WorkUnits work, std::uint32_t running, Ticks started, Ticks now) {
  const double done = static_cast<double>(work) * running;
  auto elapsed = static_cast<double>(now - started);
  if (now > forget_at_) samples_ = 0;
  if (dry_ || started < full_since_) {
    // With a free slot the core may have done less than it can, but never more.
    if (samples_ < kLeastSamples || elapsed * work_ >= done * ticks_) return;
  }
  if (samples_ >= kLeastSamples) elapsed = std::min(elapsed, kLongestStep * ticks_ / work_ * done);
  samples_ = std::min(samples_ + 1, kSamples);
  ticks_ += (elapsed - ticks_) / samples_;
  work_ += (done - work_) / samples_;
  const double forget_after =
      std::max(static_cast<double>(us_to_ticks(kForgetAfterUs)), kForgetAfterSearches * ticks_);
  forget_at_ = now + static_cast<Ticks>(forget_after);
  if (samples_ < kLeastSamples) return;
  ticks_per_unit_.store(ticks_ / work_, std::memory_order_relaxed);
  known_until_.store(forget_at_, std::memory_order_relaxed);
}

Ticks WorkRate::expected(WorkUnits work, Ticks now) const {
  if (now > known_until_.load(std::memory_order_relaxed)) return 0;
  return static_cast<Ticks>(ticks_per_unit_.load(std::memory_order_relaxed) *
                            static_cast<double>(work));
}

}  // namespace farvec::compute_node
