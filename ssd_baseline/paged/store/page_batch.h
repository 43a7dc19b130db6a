// Reads of pages into the store's buffer, many at once.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/clock.h"
#include "base/status.h"
#include "ssd_baseline/paged/store/page_fetcher.h"

namespace farvec::paged {

/// Several pages that one fiber asked for at once. Used again as often as one likes; allocates
/// nothing after the constructor.
class PageBatch {
 public:
  PageBatch(PageFetcher& fetcher, std::size_t capacity);
  ~PageBatch();
  PageBatch(const PageBatch&) = delete;
  PageBatch& operator=(const PageBatch&) = delete;

  /// Pins those that are in the buffer and starts reads of the others with one system call. Pages
  /// are different, at most `capacity`; the batch is empty. Does not suspend for reads; it does for
  /// frames, where all are in use. `counts` must live until the batch is empty.
  Status start(std::span<const PageNumber> pages, Ticks deadline, FetchCounts& counts);
  /// As start(), of the first so many of them as there are frames for, one at least, and answers
  /// how many: who can let go of some before the next ones come never holds what others wait for.
  Result<std::size_t> start_some(std::span<const PageNumber> pages, Ticks deadline,
                                 FetchCounts& counts);

  /// One that is ready: in the buffer when asked for, in their order, then as they come.
  /// False when none is ready now. A page that could not be read is ready with its status.
  struct Ready {
    std::size_t index = 0;  ///< in the pages of start()
    PagePin pin;            ///< empty with a bad status
    Status status;
  };
  bool take(Ready& ready);

  /// Not taken yet.
  std::size_t left() const;

  /// From inside a fiber: suspends until `least` pages (or all that are left, if fewer) are ready.
  Status wait(std::size_t least);

  /// Lets go of all: reads that are out end in the buffer. Does not suspend.
  void clear();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace farvec::paged
