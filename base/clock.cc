#include "base/clock.h"

#include <chrono>

namespace farvec {
namespace {

double measure_ticks_per_us() {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const Ticks first = now_ticks();
  auto end = start;
  while (end - start < std::chrono::milliseconds(10)) end = Clock::now();
  const Ticks last = now_ticks();
  return static_cast<double>(last - first) /
         std::chrono::duration<double, std::micro>(end - start).count();
}

}  // namespace

double ticks_per_us() {
  static const double value = measure_ticks_per_us();
  return value;
}

}  // namespace farvec
