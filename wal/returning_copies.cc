#include "wal/returning_copies.h"

#include <spdlog/spdlog.h>

#include <chrono>
#include <optional>
#include <utility>

#include "base/error.h"
#include "wal/region_folder.h"

namespace farvec::wal {
namespace {

constexpr auto kLookPause = std::chrono::seconds(1);

}  // namespace

ReturningCopies::ReturningCopies(RegionFolder& folder, LogReach reach)
    : folder_(folder),
      reach_(std::move(reach)),
      told_(folder.copies().wanted),
      thread_([this] { run(); }) {}

ReturningCopies::~ReturningCopies() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void ReturningCopies::run() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, kLookPause, [this] { return stop_.load(); })) {
    lock.unlock();
    look();
    lock.lock();
  }
}

void ReturningCopies::look() {
  try {
    folder_.look_at_copies();
  } catch (const std::exception&) {
    return;  // too few copies are left: the next record ends the log
  }
  std::optional<std::size_t> copy = folder_.missing(0);
  while (copy && !stop_) {
    bring_back(*copy);
    copy = folder_.missing(*copy + 1);
  }
}

/// Logs once why the copy could not join.
void ReturningCopies::bring_back(std::size_t copy) {
  try {
    folder_.join(copy, reach_(copy, stop_), stop_);
    told_[copy].clear();
  } catch (const std::exception& error) {
    if (told_[copy] == error.what()) return;
    told_[copy] = error.what();
    spdlog::warn("a memory node of the log is not back: {}", error.what());
  }
}

}  // namespace farvec::wal
