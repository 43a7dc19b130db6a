#include "ssd_baseline/hnsw/pinned_pages.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace farvec::ssd_baseline {

void PinnedPages::clear() {
  wanted_.clear();
  pins_.clear();
}

void PinnedPages::want(PageNumber page) {
  if (page == layout::kNoPage) return;
  const auto is = [page](const PagePin& pin) { return pin.number() == page; };
  if (std::any_of(pins_.begin(), pins_.end(), is)) return;
  if (std::find(wanted_.begin(), wanted_.end(), page) == wanted_.end()) wanted_.push_back(page);
}

Status PinnedPages::pin(Ticks deadline, FetchCounts& counts) {
  const std::vector<PageNumber> wanted = std::exchange(wanted_, {});
  if (pins_.size() + wanted.size() > kMostPages) {
    return {StatusCode::resource_exhausted, "one change takes more pages than can be pinned"};
  }
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

}  // namespace farvec::ssd_baseline
