// How fast a core serves, and what that says about a search that has just come.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.h"

namespace farvec::compute_node {

/// Work is counted in units of a search's length: of two searches the one with twice the list (or
/// the clusters to probe) has about twice the units.
using WorkUnits = std::uint64_t;

/// The units of a search that keeps `length` candidates or probes so many clusters. What every
/// search does before its first hop counts as much as a few of them.
inline WorkUnits work_of(std::uint32_t length) {
  return WorkUnits{length} + 8;
}

/// The time that a core takes for a unit of work when all its slots are taken: a moving mean over
/// about the last 64 searches that ran while no slot was free. Only such searches say what a core
/// can do; with free slots it waits for work, and a search says something only when it was faster
/// than that, so that an estimate under which no slots fill up is mended. Little's law gives the
/// rate from how long a search had its slot, which is steady where the times between the ends of
/// searches come in bursts. Time is the caller's: now_ticks(), or a simulation's.
class WorkRate {
 public:
  /// A slot has taken a search. The core's thread.
  void took(Ticks now);
  /// A slot has found nothing to do. The core's thread.
  void ran_dry() { dry_ = true; }
  /// A search of `work`, which had begun at `started`, ended `now` as one of `running`. The core's
  /// thread.
  void ended(WorkUnits work, std::uint32_t running, Ticks started, Ticks now);

  /// How long the core takes for `work`, all that it was given included; 0 while nothing recent is
  /// known: at the start, and when for a second (or eight searches, when they are so long) no
  /// search ended with all slots taken. Any thread.
  Ticks expected(WorkUnits work, Ticks now) const;

 private:
  double ticks_ = 0;  ///< mean time of a search in its slot
  double work_ = 0;   ///< mean work that the core did in that time
  std::uint32_t samples_ = 0;
  bool dry_ = true;       ///< a slot was free when it last looked for work
  Ticks full_since_ = 0;  ///< no slot has been free since, unless dry_
  Ticks forget_at_ = 0;
  // What other threads read. Relaxed: each is a hint by itself, and a reader that sees one without
  // the other is off by one search.
  std::atomic<double> ticks_per_unit_{0};
  std::atomic<Ticks> known_until_{0};
};

/// Whether a search that takes a slot `now`, beside searches of `running` units, ends before its
/// deadline. One that has the core to itself is given the chance as long as there is time.
inline bool ends_in_time(const WorkRate& rate, WorkUnits running, WorkUnits work, Ticks left,
                         Ticks now) {
  return running == 0 || rate.expected(running + work, now) <= left;
}

/// Whether an answer that is expected after `expected` is not to be awaited when its deadline is
/// after `left`. What is served to the last moment is often too late: a fifth of the time is kept
/// for what the estimate cannot know, and for the way back.
inline bool comes_too_late(Ticks expected, Ticks left) {
  return expected > left - left / 5;
}

}  // namespace farvec::compute_node
