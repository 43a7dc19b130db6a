// What another thread is to bring about.
#pragma once

#include <chrono>
#include <functional>
#include <thread>

#include "base/clock.h"

namespace farvec::collection {

/// Whether it came true within the time that anything may take here.
inline bool comes(const std::function<bool()>& true_by_now, double patience_us = 60e6) {
  const Ticks deadline = now_ticks() + us_to_ticks(patience_us);
  while (!true_by_now()) {
    if (now_ticks() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace farvec::collection
