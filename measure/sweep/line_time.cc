#include "measure/sweep/line_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>

#include "measure/bench/memory_load.h"
#include "measure/report/machine.h"

namespace farvec::measure {

void LineTime::measure(std::uint32_t threads, const Interruption& interrupted) {
  if (given_ns_ > 0 || measured_.contains(threads)) return;
  std::size_t bytes = 0;
  try {
    const std::size_t most = default_set_bytes(this_machine().l3_bytes) / 2;
    const WorkingSet set(std::clamp(bytes_, LineOrder::kLeastBytes, most), Pages::huge);
    bytes = set.bytes();
    measured_[threads] = line_ns(set, threads, interrupted);
  } catch (const std::exception& error) {
    measured_[threads] = 0;
    if (!quiet_) fmt::print(stderr, "farvec: no bound by memory: {}\n", error.what());
    return;
  }
  if (quiet_) return;
  fmt::print(stderr,
             "a random cache line of {:.1f} MB takes a core {:.1f} ns, with {} of them busy "
             "(measured)\n",
             static_cast<double>(bytes) / 1e6, measured_[threads], threads);
}

double LineTime::ns(std::uint32_t threads) const {
  if (given_ns_ > 0) return given_ns_;
  const auto found = measured_.find(threads);
  return found == measured_.end() ? 0 : found->second;
}

}  // namespace farvec::measure
