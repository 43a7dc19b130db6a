// A Rest has the background of a collection wait while many rows come that are searched only when
// all are there.
#pragma once

#include <atomic>

#include "base/clock.h"

namespace farvec::collection {

/// It lasts until a moment that may be put off, or until it is ended, which is for good. Any thread
/// may call everything.
class Rest {
 public:
  /// Lasts until then; 0: it is over.
  constexpr explicit Rest(Ticks until) : until_(until) {}

  /// Has it last until then at least, also where its time was over; not where it was ended.
  void put_off(Ticks until) {
    // Relaxed, as all others: it says when to work, and orders nothing.
    Ticks now = until_.load(std::memory_order_relaxed);
    while (now != kEnded && now < until &&
           !until_.compare_exchange_weak(now, until, std::memory_order_relaxed)) {
    }
  }
  void end() { until_.store(kEnded, std::memory_order_relaxed); }

  bool lasts() const {
    const Ticks until = until_.load(std::memory_order_relaxed);
    return until != kEnded && now_ticks() < until;
  }

 private:
  static constexpr Ticks kEnded = 0;

  std::atomic<Ticks> until_;
};

/// For work that never rests.
inline constinit const Rest kNoRest(0);

}  // namespace farvec::collection
