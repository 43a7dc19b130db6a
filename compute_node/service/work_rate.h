// A WorkRate measures how fast a core serves, and says what that means for a search that has just
// come.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.h"

namespace farvec::compute_node {

/// Work is counted in units of a search's length: a search with twice the list (or the clusters to
/// probe) has about twice the units.
using WorkUnits = std::uint64_t;

/// Returns the units of a search that keeps `length` candidates or probes `length` clusters. What
/// every search does before its first hop counts as much as a few of them.
inline WorkUnits work_of(std::uint32_t length) {
  return WorkUnits{length} + 8;
}

/// The time that a core takes for a unit of work when all its slots are taken: a moving mean over
/// about the last 64 searches that ran while no slot was free. Only such searches say what a core
/// can do. With free slots the core waits for work, and a search counts only when it was faster
/// than the mean, so that an estimate that keeps the slots from filling up is corrected. Little's
/// law gives the rate from how long a search had its slot, which is steady where the times between
/// the ends of searches come in bursts. The caller gives the time: now_ticks(), or a simulation's.
class WorkRate {
 public:
  /// A slot has taken a search. To be called on the core's thread.
  void took(Ticks now);
  /// A slot has found nothing to do. To be called on the core's thread.
  void ran_dry() { dry_ = true; }
  /// Notes that a search of `work`, which had begun at `started`, ended `now`, one of `running`. To
  /// be called on the core's thread.
  void ended(WorkUnits work, std::uint32_t running, Ticks started, Ticks now);

  /// Returns how long the core takes for `work`, which includes all that it was given; 0 while
  /// nothing recent is known: at the start, and when for a second (or the time of eight searches,
  /// when they are that long) no search ended with all slots taken. It may be called from any
  /// thread.
  Ticks expected(WorkUnits work, Ticks now) const;

 private:
  double ticks_ = 0;  ///< mean time of a search in its slot
  double work_ = 0;   ///< mean work that the core did in that time
  std::uint32_t samples_ = 0;
  bool dry_ = true;       ///< a slot was free when it last looked for work
  Ticks full_since_ = 0;  ///< no slot has been free since, unless dry_
  Ticks forget_at_ = 0;
  // Other threads read these. They are relaxed: each is a hint by itself, and a reader that sees
  // one without the other is off by one search.
  std::atomic<double> ticks_per_unit_{0};
  std::atomic<Ticks> known_until_{0};
};

/// Says whether a search that takes a slot `now`, beside searches of `running` units, ends before
/// its deadline. One that has the core to itself may try as long as there is time.
inline bool ends_in_time(const WorkRate& rate, WorkUnits running, WorkUnits work, Ticks left,
                         Ticks now) {
  return running == 0 || rate.expected(running + work, now) <= left;
}

/// Says whether it is useless to wait for an answer that is expected after `expected`, when its
/// deadline is after `left`. An answer that is served to the last moment is often too late: a fifth
/// of the time is kept for what the estimate cannot know, and for the way back.
inline bool comes_too_late(Ticks expected, Ticks left) {
  return expected > left - left / 5;
}

}  // namespace farvec::compute_node
