#include "measure/ticker.h"

#include <chrono>
#include <utility>

namespace farvec::measure {
namespace {

constexpr std::chrono::milliseconds kLook{200};

}  // namespace

Ticker::Ticker(std::function<void()> look)
    : look_(std::move(look)), thread_([this](const std::stop_token& stop) {
        std::unique_lock lock(mutex_);
        for (;;) {
          ended_.wait_for(lock, stop, kLook, [] { return false; });
          if (stop.stop_requested()) return;
          look_();
        }
      }) {}

}  // namespace farvec::measure
