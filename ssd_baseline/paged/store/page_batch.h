// A PageBatch reads pages into the store's buffer, many at once.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/clock.h"
#include "base/status.h"
#include "ssd_baseline/paged/store/page_fetcher.h"

namespace farvec::paged {

/// A PageBatch holds several pages that one fiber asked for at once. It may be used again any
/// number of times, and allocates nothing after the constructor.
class PageBatch {
 public:
  PageBatch(PageFetcher& fetcher, std::size_t capacity);
  ~PageBatch();
  PageBatch(const PageBatch&) = delete;
  PageBatch& operator=(const PageBatch&) = delete;

  /// Pins those that are in the buffer and starts reads of the others with one system call. The
  /// pages must be different, at most `capacity`, and the batch must be empty. It does not suspend
  /// for reads; it does for frames, where all are in use. `counts` must live until the batch is
  /// empty.
  Status start(std::span<const PageNumber> pages, Ticks deadline, FetchCounts& counts);
  /// Does what start() does with the first pages, as many as there are frames for, at least one,
  /// and returns how many. A caller that lets go of these before it starts the next ones never
  /// holds what others wait for.
  Result<std::size_t> start_some(std::span<const PageNumber> pages, Ticks deadline,
                                 FetchCounts& counts);

  /// Takes a page that is ready: first those that were in the buffer, in the order of start(), then
  /// the others when they come. False when none is ready now. A page that could not be read is
  /// ready with its status.
  struct Ready {
    std::size_t index = 0;  ///< its place among the pages of start()
    PagePin pin;            ///< empty when the status is bad
    Status status;
  };
  bool take(Ready& ready);

  /// Returns how many were not taken yet.
  std::size_t left() const;

  /// To be called inside a fiber: suspends until `least` pages (or all that are left, if fewer) are
  /// ready.
  Status wait(std::size_t least);

  /// Lets go of all pages; reads that are under way end in the buffer. It does not suspend.
  void clear();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace farvec::paged
