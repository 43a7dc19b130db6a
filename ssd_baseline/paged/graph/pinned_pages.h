// PinnedPages hold the pages that one update changes or reads in the buffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "ssd_baseline/paged/graph/change_pages.h"
#include "ssd_baseline/paged/graph/hnsw_search_types.h"
#include "ssd_baseline/paged/graph/paged_hnsw.h"
#include "ssd_baseline/paged/store/page_batch.h"

namespace farvec::paged {

/// One fiber uses it for update after update. The pages are different.
class PinnedPages {
 public:
  PinnedPages(PagedHnsw& hnsw, PageFetcher& fetcher, ReadMode mode);
  ~PinnedPages() { clear(); }
  PinnedPages(const PinnedPages&) = delete;
  PinnedPages& operator=(const PinnedPages&) = delete;

  /// To be called inside a fiber, before a change makes its plan: waits until other changes leave
  /// the buffer room for this many pages, and keeps it until clear(). What is planned before such a
  /// wait is out of date after it. deadline_exceeded.
  Status take_room(std::size_t pages, Ticks deadline);
  /// Lets go of all pages, and gives their room back.
  void clear();
  /// Lets go of all pages, and keeps the room.
  void unpin();
  /// Adds the page to those that pin() pins. A page that is wanted several times counts once,
  /// kNoPage not at all.
  void want(PageNumber page);
  /// To be called inside a fiber: reads the wanted pages that are not there yet, in the way of the
  /// mode. Without room it waits until other changes leave the buffer room for them.
  Status pin(Ticks deadline, FetchCounts& counts);
  /// Adds a page that is pinned already; release() gives it back.
  void add(PagePin pin) { pins_.push_back(std::move(pin)); }
  PagePin release(PageNumber page);

  /// Returns the place of a pinned page in the pins.
  std::size_t index(PageNumber page) const;

  const PagePin& at(PageNumber page) const { return pins_[index(page)]; }

  /// Calls PageStore::update() with all of them.
  Result<wal::Position> update(const std::function<Status(PageEditor&)>& edit);

 private:
  Status make_room(std::size_t more, Ticks deadline);

  PageFetcher& fetcher_;
  PinBudget& budget_;
  const std::size_t most_;      ///< most pages of one change: more is resource_exhausted
  const std::size_t buffered_;  ///< most pages that the buffer has room for at once
  const ReadMode mode_;
  std::size_t room_ = 0;  ///< pages taken from the budget
  PageBatch batch_;
  std::vector<PageNumber> wanted_;
  std::vector<PagePin> pins_;
  std::vector<PagePin*> pointers_;
};

}  // namespace farvec::paged
