#include "measure/bench/memory_load.h"

#include <unistd.h>

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "base/clock.h"
#include "base/error.h"
#include "search/core/pinned_threads.h"

namespace farvec::measure {
namespace {

constexpr std::uint64_t kLinesPerClock = 4096;  ///< lines between two looks at the clock

/// GCC 12 drops prefetches of a loop without the empty statement.
template <Ask ask>
void ask_for(const std::byte* line) {
  if constexpr (ask == Ask::first) __builtin_prefetch(line, 0, 3);
  if constexpr (ask == Ask::second) __builtin_prefetch(line, 0, 2);
  asm volatile("");
}

template <Ask ask>
void follow_by(std::vector<const std::byte*>& chains, std::uint64_t steps) {
  const std::byte** const lines = chains.data();
  const std::size_t count = chains.size();
  for (std::uint64_t step = 0; step < steps; ++step) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::byte* const next = WorkingSet::next(lines[i]);
      ask_for<ask>(next);
      lines[i] = next;
    }
  }
}

/// Does one thread's part of a measurement.
class Walker {
 public:
  Walker(const WorkingSet& set, const MemoryPoint& point, std::size_t thread,
         const Interruption& interrupted)
      : set_(set), ask_(point.ask), interrupted_(interrupted) {
    const std::size_t chains = std::size_t{point.threads} * point.inflight;
    for (std::size_t i = 0; i < point.inflight; ++i) {
      const std::size_t number = thread * point.inflight + i;
      chains_.push_back(set.line(set.order().count() / chains * number));
    }
    next_line_ = set.order().count() / point.threads * thread;
  }

  /// Returns the lines per second.
  double run(double ms) {
    const Ticks end = now_ticks() + us_to_ticks(ms * 1000);
    const double busy = search::processor_seconds();
    std::uint64_t lines = 0;
    do {
      lines += ask_ == Ask::sequential ? scan() : follow_chains();
    } while (now_ticks() < end && !asked_to_end(interrupted_));
    return static_cast<double>(lines) / std::max(search::processor_seconds() - busy, 1e-9);
  }

 private:
  std::uint64_t follow_chains() {
    const std::uint64_t steps = std::max<std::uint64_t>(1, kLinesPerClock / chains_.size());
    follow(ask_, chains_, steps);
    return steps * chains_.size();
  }

  std::uint64_t scan() {
    std::uint64_t sum = 0;
    const std::byte* line = set_.data() + next_line_ * kCacheLineBytes;
    const std::size_t left = set_.order().count() - next_line_;
    const std::uint64_t lines = std::min<std::uint64_t>(left, kLinesPerClock);
    for (std::uint64_t i = 0; i < lines; ++i, line += kCacheLineBytes) {
      sum += load_unaligned<std::uint64_t>(line);
    }
    asm volatile("" : : "r"(sum));
    next_line_ = lines == left ? 0 : next_line_ + lines;
    return lines;
  }

  const WorkingSet& set_;
  const Ask ask_;
  const Interruption& interrupted_;
  std::vector<const std::byte*> chains_;
  std::size_t next_line_ = 0;  ///< next line of a scan
};

}  // namespace

std::string_view to_string(Ask ask) {
  switch (ask) {
    case Ask::load:
      return "load";
    case Ask::first:
      return "l1";
    case Ask::second:
      return "l2";
    case Ask::sequential:
      break;
  }
  return "sequential";
}

Ask parse_ask(std::string_view text) {
  for (const Ask ask : {Ask::load, Ask::first, Ask::second, Ask::sequential}) {
    if (text == to_string(ask)) return ask;
  }
  throw Error("--ask: '{}' is unknown: use load, l1, l2 or sequential", text);
}

void follow(Ask ask, std::vector<const std::byte*>& chains, std::uint64_t steps) {
  if (ask == Ask::first) return follow_by<Ask::first>(chains, steps);
  if (ask == Ask::second) return follow_by<Ask::second>(chains, steps);
  follow_by<Ask::load>(chains, steps);
}

double measure_lines(const WorkingSet& set, const MemoryPoint& point, double ms,
                     const Interruption& interrupted) {
  FARVEC_CHECK(point.threads >= 1 && point.inflight >= 1);
  FARVEC_CHECK(std::size_t{point.threads} * point.inflight <= set.order().count());
  std::vector<double> rates(point.threads);
  search::run_pinned(point.threads, [&](std::size_t thread) {
    rates[thread] = Walker(set, point, thread, interrupted).run(ms);
  });
  return std::accumulate(rates.begin(), rates.end(), 0.0);
}

double line_ns(const WorkingSet& set, std::uint32_t threads, const Interruption& interrupted) {
  constexpr double kPassMs = 5;
  double best = 0;
  for (int pass = 0; pass < 3; ++pass) {
    for (const Ask ask : {Ask::first, Ask::second}) {
      for (const std::uint32_t inflight : {16u, 32u, 64u}) {
        const MemoryPoint point{Pages::huge, threads, ask, inflight};
        best = std::max(best, measure_lines(set, point, kPassMs, interrupted));
      }
    }
  }
  return 1e9 * threads / best;
}

std::size_t memory_bytes() {
  return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

std::size_t default_set_bytes(std::size_t l3_bytes) {
  const std::size_t wanted = std::max(std::size_t{256} << 20, 16 * l3_bytes);
  return std::max(LineOrder::kLeastBytes, std::min(wanted, memory_bytes() / 4));
}

}  // namespace farvec::measure
