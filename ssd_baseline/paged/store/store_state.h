// StoreState is what the store, its writer and its fetchers share.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>

#include "disk/disk_file.h"
#include "ssd_baseline/paged/store/frame_pool.h"
#include "ssd_baseline/paged/store/store_parts.h"

namespace farvec::paged {

/// A StoreFailure is the first error that ended changes. It is set once, and read by any thread.
class StoreFailure {
 public:
  void set(Status status) {
    const std::lock_guard lock(mutex_);
    if (failed_.load(std::memory_order_relaxed)) return;  // under the lock
    status_ = status;
    failed_.store(true, std::memory_order_release);  // pairs with get(): the status is there
  }
  Status get() const { return failed_.load(std::memory_order_acquire) ? status_ : Status(); }

 private:
  std::mutex mutex_;
  Status status_;
  std::atomic<bool> failed_ = false;
};

/// These are counts; they are relaxed because nothing depends on them.
struct StoreCounters {
  std::atomic<std::uint64_t> page_reads = 0;
  std::atomic<std::uint64_t> page_writes = 0;
  std::atomic<std::uint64_t> log_bytes = 0;
  std::atomic<std::uint64_t> image_bytes = 0;
  std::atomic<std::uint64_t> checkpoints = 0;
  std::atomic<std::uint64_t> waits_for_frames = 0;

  static void add(std::atomic<std::uint64_t>& counter, std::uint64_t count) {
    counter.fetch_add(count, std::memory_order_relaxed);
  }
};

class PageWriter;

struct StoreState {
  StoreState(std::size_t frames, std::uint32_t page_bytes) : pool(frames, page_bytes) {}

  std::uint32_t page_bytes() const { return pool.page_bytes(); }
  std::uint64_t offset_of(PageNumber page) const { return std::uint64_t{page} * page_bytes(); }

  std::filesystem::path folder;
  std::shared_ptr<StoreParts> parts;
  std::shared_ptr<disk::DiskFile> file;
  std::unique_ptr<wal::Log> log;
  wal::Durability durability = wal::Durability::commit;
  FramePool pool;
  StoreFailure failure;
  StoreCounters counters;
  PageWriter* writer = nullptr;
  /// The pages that exist. Release and acquire: a thread that sees a number finds its page.
  std::atomic<PageNumber> pages = 0;
  std::mutex adding;         ///< held while a page is added
  PageNumber next_page = 0;  ///< guarded by `adding`: numbers below it are given out
};

/// Logs which page and file a status is about.
void log_damage(const StoreState& state, PageNumber page, Status status);

}  // namespace farvec::paged
