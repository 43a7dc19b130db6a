#include "ssd_baseline/paged/graph/pinned_pages.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "ssd_baseline/paged/store/local_store.h"

namespace farvec::paged {
namespace {

/// The least limit, because vacuums repair lists of vertices however few pages an insert takes.
constexpr std::size_t kLeastMost = 512;
/// Pages that a change asks for when it has the others: where it puts the vertex, and a new page.
constexpr std::size_t kLaterPages = 4;

}  // namespace

PinnedPages::PinnedPages(PagedHnsw& hnsw, PageFetcher& fetcher, ReadMode mode)
    : fetcher_(fetcher),
      budget_(hnsw.pin_budget()),
      most_(std::max(kLeastMost, hnsw.change_pages())),
      buffered_(hnsw.store().frames() - kCleanFrames),
      mode_(mode),
      batch_(fetcher, most_) {
  pins_.reserve(most_);
}

void PinnedPages::clear() {
  unpin();
  if (room_ > 0) budget_.give_back(std::exchange(room_, 0));
}

void PinnedPages::unpin() {
  wanted_.clear();
  pins_.clear();
}

Status PinnedPages::take_room(std::size_t pages, Ticks deadline) {
  clear();
  return make_room(pages, deadline);
}

/// A change that holds pages does not wait for others to give theirs back.
Status PinnedPages::make_room(std::size_t more, Ticks deadline) {
  const std::size_t pages = pins_.size() + more + kLaterPages;
  if (room_ >= pages - kLaterPages) return {};
  if (room_ > 0) {
    budget_.take_more(pages - room_);
  } else if (Status status = budget_.take(pages, deadline, fetcher_.scheduler()); !status.ok()) {
    return status;
  }
  room_ = pages;
  return {};
}

void PinnedPages::want(PageNumber page) {
  if (page == layout::kNoPage) return;
  const auto is = [page](const PagePin& pin) { return pin.number() == page; };
  if (std::any_of(pins_.begin(), pins_.end(), is)) return;
  if (std::find(wanted_.begin(), wanted_.end(), page) == wanted_.end()) wanted_.push_back(page);
}

Status PinnedPages::pin(Ticks deadline, FetchCounts& counts) {
  const std::vector<PageNumber> wanted = std::exchange(wanted_, {});
  if (pins_.size() + wanted.size() > most_) {
    return {StatusCode::resource_exhausted, "one change takes more pages than can be pinned"};
  }
  if (pins_.size() + wanted.size() > buffered_) {
    return {StatusCode::resource_exhausted,
            "one change takes more pages than the buffer has: open it with a larger --buffer"};
  }
  if (Status status = make_room(wanted.size(), deadline); !status.ok()) return status;
  if (mode_ == ReadMode::sync) {
    for (const PageNumber page : wanted) {
      auto pin = fetcher_.fetch(page, deadline, counts);
      if (!pin.ok()) return pin.status();
      pins_.push_back(std::move(pin).value());
    }
    return {};
  }
  if (wanted.empty()) return {};
  Status status = batch_.start(wanted, deadline, counts);
  if (status.ok()) status = batch_.wait(wanted.size());
  for (PageBatch::Ready ready; status.ok() && batch_.take(ready);) {
    status = ready.status;
    if (status.ok()) pins_.push_back(std::move(ready.pin));
  }
  batch_.clear();
  return status;
}

PagePin PinnedPages::release(PageNumber page) {
  const std::size_t at = index(page);
  PagePin pin = std::move(pins_[at]);
  pins_.erase(pins_.begin() + static_cast<std::ptrdiff_t>(at));
  return pin;
}

std::size_t PinnedPages::index(PageNumber page) const {
  const auto at = std::find_if(pins_.begin(), pins_.end(),
                               [page](const PagePin& pin) { return pin.number() == page; });
  FARVEC_CHECK(at != pins_.end(), "page {} is not pinned", page);
  return static_cast<std::size_t>(at - pins_.begin());
}

Result<wal::Position> PinnedPages::update(const std::function<Status(PageEditor&)>& edit) {
  pointers_.clear();
  for (PagePin& pin : pins_) pointers_.push_back(&pin);
  return fetcher_.store().update(pointers_, edit);
}

}  // namespace farvec::paged
