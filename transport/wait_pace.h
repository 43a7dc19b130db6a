// A WaitPace says how often to look for what comes from a device.
#pragma once

#include <chrono>
#include <thread>

namespace farvec::transport {

/// Used for one wait: the first looks follow each other closely, so that a quick answer is seen at
/// once, and later ones are some 20 us apart.
class WaitPace {
 public:
  /// Waits between two looks.
  void rest() {
    if (looks_ < kCloseLooks) {
      ++looks_;
      std::this_thread::yield();  // the peer may need this very core
    } else {
      std::this_thread::sleep_for(kPause);
    }
  }

 private:
  static constexpr int kCloseLooks = 100;
  static constexpr std::chrono::microseconds kPause{20};
  int looks_ = 0;
};

}  // namespace farvec::transport
