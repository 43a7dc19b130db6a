// Ending long work early without losing what it has found.
#pragma once

#include <csignal>

#include "base/clock.h"

namespace farvec::cli {

/// While one lives, the first SIGINT or SIGTERM makes interrupted() true instead of ending the
/// program: what measures looks at it, ends early, and reports what it has. A second signal ends
/// the program. At most one at a time.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();  ///< the signals do again what they did before
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  struct sigaction before_int_;
  struct sigaction before_term_;
};

/// From any thread.
bool interrupted();

/// False as soon as interrupted() is true.
bool sleep_until(Ticks time);

/// Thrown when the work has stopped at an interrupt and said what there is; the program then ends
/// with status 130. No std::exception, so that nobody takes it for a failure.
struct Interrupted {};

}  // namespace farvec::cli
