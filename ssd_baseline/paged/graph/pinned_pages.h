// The pages that one update changes or looks at, held in the buffer.
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

/// Used again for update after update by one fiber. Pages are different.
class PinnedPages {
 public:
  PinnedPages(PagedHnsw& hnsw, PageFetcher& fetcher, ReadMode mode);
  ~PinnedPages() { clear(); }
  PinnedPages(const PinnedPages&) = delete;
  PinnedPages& operator=(const PinnedPages&) = delete;

  /// Lets go of all.
  void clear();
  /// Will be pinned; again and again is once. kNoPage is none.
  void want(PageNumber page);
  /// From inside a fiber: reads what was wanted and is not there yet, as the mode says. The first
  /// time it waits until other changes leave the buffer room for them.
  Status pin(Ticks deadline, FetchCounts& counts);
  /// Adds a page that is pinned already; release() gives it back.
  void add(PagePin pin) { pins_.push_back(std::move(pin)); }
  PagePin release(PageNumber page);

  /// Its place in the pins; the page is pinned.
  std::size_t index(PageNumber page) const;

  const PagePin& at(PageNumber page) const { return pins_[index(page)]; }

  /// PageStore::update() of all of them.
  Result<wal::Position> update(const std::function<Status(PageEditor&)>& edit);

 private:
  Status make_room(std::size_t more, Ticks deadline);

  PageFetcher& fetcher_;
  PinBudget& budget_;
  const std::size_t most_;  ///< pages of one change: more is resource_exhausted
  const ReadMode mode_;
  std::size_t room_ = 0;  ///< taken from the budget
  PageBatch batch_;
  std::vector<PageNumber> wanted_;
  std::vector<PagePin> pins_;
  std::vector<PagePin*> pointers_;
};

}  // namespace farvec::paged
