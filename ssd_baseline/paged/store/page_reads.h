// These types are what PageFetcher and PageBatch are made of: the reads of one core, and what waits
// for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/status.h"
#include "coroutines/scheduler.h"
#include "disk/load_queue.h"
#include "ssd_baseline/paged/store/page_fetcher.h"
#include "ssd_baseline/paged/store/store_state.h"

namespace farvec::paged {

/// An item of a doubly linked list; it can leave the list at any place.
struct Linked {
  Linked* before = this;
  Linked* after = this;

  bool linked() const { return after != this; }
  void insert(Linked& item) {
    item.before = before;
    item.after = this;
    before->after = &item;
    before = &item;
  }
  void unlink() {
    before->after = after;
    after->before = before;
    before = after = this;
  }
};

/// A PageWaiter is a fiber that waits for pages. It is woken when as many are ready as it wants.
struct PageWaiter {
  coroutines::Fiber* fiber = nullptr;
  Linked ready;
  std::size_t ready_count = 0;
  std::size_t wanted = 0;
};

/// A PageWait is one page for one caller. It is first in the list of a read or in that of foreign
/// reads, and then in the list of ready pages.
struct PageWait : Linked {
  Frame* frame = nullptr;  ///< one of its pins is the caller's
  PageWaiter* waiter = nullptr;
  PageNumber page = 0;
  Status failure;  ///< set for a page that has got no frame
};

inline void become_ready(PageWait& wait) {
  PageWaiter& waiter = *wait.waiter;
  waiter.ready.insert(wait);
  ++waiter.ready_count;
}

/// A PageRead is a read of this core. It has a pin of its own until the disk has given the memory
/// back.
struct PageRead : disk::Load {
  Frame* frame = nullptr;
  Linked waits;
};

struct DurableWait : Linked {
  coroutines::Fiber* fiber = nullptr;
  wal::Position position = 0;
};

struct PageFetcher::State final : disk::LoadListener {
  State(PageStore& store_given, coroutines::Scheduler& scheduler_given,
        const PageFetcherOptions& options_given)
      : store(store_given),
        shared(store_given.state()),
        scheduler(scheduler_given),
        options(options_given),
        reads(options_given.max_outstanding),
        queue(std::make_unique<disk::DiskEngine>(shared.parts->open_queue(
                  {shared.file}, options_given.max_outstanding, options_given.thread)),
              scheduler_given, {.max_waiting = options_given.max_outstanding}) {
    for (auto i = options.max_outstanding; i > 0; --i) {
      unused.push_back(i - 1);
      reads[i - 1].listener = this;
    }
    started.reserve(reads.size());
  }

  /// How an attempt to get a page ended.
  enum class Attempt : std::uint8_t { hit, joined, started, later };

  Attempt attempt(PageWait& wait);
  Attempt start_read(PageWait& wait);
  Attempt join(Frame& frame, PageWait& wait);
  bool take_place(PageWait& wait, FetchCounts& counts);
  Status insist(PageWait& wait, Ticks deadline, FetchCounts& counts);
  Status be_patient(Ticks began, Ticks deadline);
  Status wait(PageWaiter& waiter, std::size_t wanted, Ticks deadline);
  Status finish(PageWait& wait);
  void drop(PageWait& wait);
  Status submit();
  bool poll();
  void load_ended(disk::Load& load) override;
  void load_returned(disk::Load& load) override;
  void end_read(PageRead& read, Status status);
  void give_back(PageRead& read);
  void arrive(PageWait& wait);
  bool poll_foreign();
  bool poll_durable();
  void close();

  PageStore& store;
  StoreState& shared;
  coroutines::Scheduler& scheduler;
  const PageFetcherOptions options;
  std::vector<PageRead> reads;
  disk::LoadQueue queue;              ///< closed before the reads that it has end
  std::vector<std::uint32_t> unused;  ///< places in reads
  std::vector<disk::Load*> started;   ///< collected for submit()
  Linked foreign;                     ///< waits for reads of other cores
  Linked durable;                     ///< waits for the log
  ClaimOutcome last_claim = ClaimOutcome::claimed;
};

}  // namespace farvec::paged
