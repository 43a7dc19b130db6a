#include "collection/memtable/memtable_linker.h"

#include <spdlog/spdlog.h>

#include <chrono>
#include <exception>
#include <utility>

#include "collection/memtable/yielding.h"

namespace farvec::collection {
namespace {
/// It looks for new rows this often when it is not woken.
constexpr auto kLinkPause = std::chrono::milliseconds(50);
}  // namespace

MemtableLinker::MemtableLinker(Source source, const Rest& rest)
    : source_(std::move(source)), rest_(rest), thread_([this] { run(); }) {}

MemtableLinker::~MemtableLinker() {
  stop_.store(true, std::memory_order_relaxed);
  wake();
  thread_.join();
}

void MemtableLinker::wake() {
  {
    const std::lock_guard lock(mutex_);
    wake_ = true;
  }
  woken_.notify_one();
}

bool MemtableLinker::may_link() const {
  return !stop_.load(std::memory_order_relaxed) && !rest_.lasts();
}

/// Returns whether there was a row to link.
bool MemtableLinker::link_all(LinkScratch& scratch) {
  bool linked = false;
  for (const auto& memtable : source_()) {
    while (may_link() && memtable->link_next(scratch)) linked = true;
  }
  return linked;
}

/// Rows for whose links there is no memory remain unlinked, and are tried again.
bool MemtableLinker::try_link_all(LinkScratch& scratch) {
  try {
    return link_all(scratch);
  } catch (const std::exception& error) {
    spdlog::warn("fresh rows could not be linked, tried again: {}", error.what());
    return false;
  }
}

void MemtableLinker::run() {
  yield_to_searches();
  LinkScratch scratch;
  while (!stop_.load(std::memory_order_relaxed)) {
    if (try_link_all(scratch)) continue;
    std::unique_lock lock(mutex_);
    woken_.wait_for(lock, kLinkPause, [this] { return wake_; });
    wake_ = false;
  }
}

}  // namespace farvec::collection
