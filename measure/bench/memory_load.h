// Measures how many random cache lines a second this machine's memory brings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/progress.h"
#include "measure/bench/working_set.h"

namespace farvec::measure {

/// Names the ways to ask for lines.
enum class Ask : std::uint8_t {
  load,        ///< one load of each line; the next load of the chain waits for it
  first,       ///< prefetched into the first-level cache, then loaded
  second,      ///< prefetched into the second-level cache, then loaded
  sequential,  ///< loads in the order of addresses: the best that the memory can do
};

/// Returns "load", "l1", "l2" or "sequential".
std::string_view to_string(Ask ask);
/// Throws an Error that names the accepted words.
Ask parse_ask(std::string_view text);

struct MemoryPoint {
  Pages pages = Pages::huge;
  std::uint32_t threads = 1;
  Ask ask = Ask::load;
  std::uint32_t inflight = 1;  ///< lines per thread; `sequential` ignores it
};

inline constexpr std::uint32_t kMostLinesInFlight = 1024;
inline constexpr std::uint32_t kMostThreads = 1024;

/// Follows one chain for each start, in turn: it asks for the next line of each chain before it
/// looks at the first one's again. So as many lines are under way as there are chains, or as the
/// core can have. It does `steps` lines of each chain; the starts become the lines where it ended.
void follow(Ask ask, std::vector<const std::byte*>& chains, std::uint64_t steps);

/// Returns the lines per second of all threads together, each pinned, for `ms` or until
/// interrupted; the seconds are those in which a thread has a processor. Threads and chains begin
/// at even distances in the ring of `set`, whose pages are the point's.
double measure_lines(const WorkingSet& set, const MemoryPoint& point, double ms,
                     const Interruption& interrupted = {});

/// Returns the nanoseconds that a core of `threads` busy ones takes for a random line at best: by
/// prefetch into either cache, with the best of a few numbers in flight. Takes about a tenth of a
/// second.
double line_ns(const WorkingSet& set, std::uint32_t threads, const Interruption& interrupted = {});

/// Returns the bytes of this machine's memory.
std::size_t memory_bytes();
/// Returns 16 times the third-level cache, so that at most a sixteenth of the lines can be there,
/// but not less than 256 MiB and not more than a quarter of the machine's memory.
std::size_t default_set_bytes(std::size_t l3_bytes);

}  // namespace farvec::measure
