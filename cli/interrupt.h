// Ends long work early without losing what it has found.
#pragma once

#include <csignal>

#include "base/clock.h"

namespace farvec::cli {

/// While an object lives, the first SIGINT or SIGTERM makes interrupted() true instead of ending
/// the program: code that measures looks at it, ends early, and reports what it has. A second
/// signal ends the program. At most one object exists at a time.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();  ///< gives the signals the effect that they had before
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  struct sigaction before_int_;
  struct sigaction before_term_;
};

/// Returns true once a signal has come. Any thread may call it.
bool interrupted();

/// Sleeps until `time` and returns true; returns false as soon as interrupted() is true.
bool sleep_until(Ticks time);

/// A command throws this when its work has stopped at an interrupt and it has reported what there
/// is; the program then ends with status 130. It is no std::exception, so that no handler takes it
/// for a failure.
struct Interrupted {};

}  // namespace farvec::cli
