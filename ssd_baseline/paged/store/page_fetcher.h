// A PageFetcher makes one core's reads of pages into the store's buffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/clock.h"
#include "base/status.h"
#include "coroutines/scheduler.h"
#include "disk/disk_engine.h"
#include "ssd_baseline/paged/store/page_store.h"

namespace farvec::paged {

/// FetchCounts say what one caller's pages cost. Callers add these up in any way they need (per
/// layer of a graph).
struct FetchCounts {
  std::uint64_t asked = 0;   ///< pages that were asked for
  std::uint64_t hits = 0;    ///< pages that were in the buffer
  std::uint64_t joined = 0;  ///< pages that another caller was reading already
  Ticks waited =
      0;  ///< for pages that were missed: starting their reads, and suspended until they came
};

struct PageFetcherOptions {
  std::uint32_t max_outstanding = 256;                ///< reads that this core has under way
  double read_limit_us = 10e6;                        ///< for one read
  disk::DiskThread thread = disk::DiskThread::owner;  ///< threads that use the fetcher
};

/// It is for the fibers of one scheduler, on the thread that runs it.
class PageFetcher {
 public:
  PageFetcher(PageStore& store, coroutines::Scheduler& scheduler,
              const PageFetcherOptions& options = {});
  ~PageFetcher();  ///< waits for the reads that are under way: others may have joined them
  PageFetcher(const PageFetcher&) = delete;
  PageFetcher& operator=(const PageFetcher&) = delete;

  PageStore& store();
  coroutines::Scheduler& scheduler();
  /// Must be called by the scheduler's poller. True when there was something to do.
  bool poll();
  /// Returns the number of reads that the disk has.
  std::uint32_t reads_under_way() const;

  /// To be called inside a fiber: returns the page, which is read if it must be. data_loss when its
  /// bytes are damaged; deadline_exceeded, also when every frame is in use until then;
  /// resource_exhausted when every frame is in use for a minute.
  Result<PagePin> fetch(PageNumber page, Ticks deadline, FetchCounts& counts);

  /// To be called inside a fiber: does what PageStore::add_page() does, and lets other fibers work
  /// while it waits for a frame. It fails like fetch() where it gets none.
  Result<PagePin> add_page(Ticks deadline);

  /// To be called inside a fiber: suspends until the log is durable up to `position`. Like
  /// wal::Log::wait(), it returns ok at once where the durability is not commit.
  Status wait_durable(wal::Position position, Ticks deadline);

 private:
  friend class PageBatch;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace farvec::paged
