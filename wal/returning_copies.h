// ReturningCopies looks for copies of a log that come back.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "wal/log_memory.h"

namespace farvec::wal {

class RegionFolder;

/// Every second, on its own thread, it tries to reach the copies that the folder misses, and lets
/// the folder join() them. The folder outlives it.
class ReturningCopies {
 public:
  ReturningCopies(RegionFolder& folder, LogReach reach);
  /// Waits for the call to a node that is under way.
  ~ReturningCopies();
  ReturningCopies(const ReturningCopies&) = delete;
  ReturningCopies& operator=(const ReturningCopies&) = delete;

 private:
  void run();
  void look();
  void bring_back(std::size_t copy);

  RegionFolder& folder_;
  const LogReach reach_;
  std::vector<std::string> told_;  ///< for each copy, why it could not join the last time
  std::atomic<bool> stop_{false};  ///< changed with mutex_ held
  std::mutex mutex_;
  std::condition_variable wake_;
  std::thread thread_;
};

}  // namespace farvec::wal
