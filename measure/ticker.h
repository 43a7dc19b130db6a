// Looks at work from time to time while it goes on.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace farvec::measure {

/// Calls `look` five times a second on a thread of its own, as long as this lives. The destructor
/// does not wait for the next time. `look` must not throw.
class Ticker {
 public:
  explicit Ticker(std::function<void()> look);

 private:
  const std::function<void()> look_;
  std::mutex mutex_;
  std::condition_variable_any ended_;
  std::jthread thread_;  ///< the last member, since it uses the others
};

}  // namespace farvec::measure
