#include "ssd_baseline/paged/store/page_batch.h"

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "ssd_baseline/paged/store/page_reads.h"

namespace farvec::paged {

struct PageBatch::State {
  State(PageFetcher& fetcher_given, std::size_t capacity)
      : store(fetcher_given.store()), fetcher(*fetcher_given.state_), places(capacity) {
    for (PageWait& place : places) place.waiter = &waiter;
  }

  PageStore& store;
  PageFetcher::State& fetcher;
  std::vector<PageWait> places;
  PageWaiter waiter;
  std::size_t count = 0;  ///< places that were asked for
  std::size_t left = 0;   ///< places that were not taken
  Ticks deadline = 0;
  FetchCounts* counts = nullptr;
};

PageBatch::PageBatch(PageFetcher& fetcher, std::size_t capacity)
    : state_(std::make_unique<State>(fetcher, capacity)) {}

PageBatch::~PageBatch() {
  clear();
}

Status PageBatch::start(std::span<const PageNumber> pages, Ticks deadline, FetchCounts& counts) {
  State& state = *state_;
  FARVEC_CHECK(state.left == 0, "a batch is started before it is empty");
  FARVEC_CHECK(pages.size() <= state.places.size(), "more pages than a batch takes");
  const PageNumber end = state.store.pages();
  if (std::ranges::any_of(pages, [&](PageNumber page) { return page >= end; })) {
    return {StatusCode::not_found, "no such page"};
  }
  state.count = state.left = pages.size();
  state.deadline = deadline;
  state.counts = &counts;
  counts.asked += pages.size();
  bool all = true;
  for (std::size_t i = 0; i < pages.size(); ++i) {
    PageWait& place = state.places[i];
    place.page = pages[i];
    place.frame = nullptr;
    all &= state.fetcher.take_place(place, counts);
  }
  const Ticks began = now_ticks();
  (void)state.fetcher.submit();  // the pages have the error too
  counts.waited += now_ticks() - began;
  for (std::size_t i = 0; i < pages.size() && !all; ++i) {
    PageWait& place = state.places[i];
    if (place.linked()) continue;
    place.failure = state.fetcher.insist(place, deadline, counts);
    if (!place.failure.ok()) become_ready(place);
    (void)state.fetcher.submit();
  }
  return {};
}

Result<std::size_t> PageBatch::start_some(std::span<const PageNumber> pages, Ticks deadline,
                                          FetchCounts& counts) {
  State& state = *state_;
  FARVEC_CHECK(state.left == 0, "a batch is started before it is empty");
  FARVEC_CHECK(!pages.empty() && pages.size() <= state.places.size(), "{} pages", pages.size());
  const PageNumber end = state.store.pages();
  if (std::ranges::any_of(pages, [&](PageNumber page) { return page >= end; })) {
    return Status(StatusCode::not_found, "no such page");
  }
  state.deadline = deadline;
  state.counts = &counts;
  const auto has_place = [&](std::size_t i) {
    state.places[i].page = pages[i];
    state.places[i].frame = nullptr;
    return state.fetcher.take_place(state.places[i], counts);
  };
  std::size_t count = 0;
  while (count < pages.size() && has_place(count)) ++count;
  const Ticks began = now_ticks();
  (void)state.fetcher.submit();  // the pages have the error too
  counts.waited += now_ticks() - began;
  if (count == 0) {
    const Status status = state.fetcher.insist(state.places[0], deadline, counts);
    if (!status.ok()) return status;
    (void)state.fetcher.submit();
    count = 1;
  }
  state.count = state.left = count;
  counts.asked += count;
  return count;
}

bool PageBatch::take(Ready& ready) {
  State& state = *state_;
  if (state.waiter.ready_count == 0) return false;
  auto& place = static_cast<PageWait&>(*state.waiter.ready.after);
  ready.index = static_cast<std::size_t>(&place - state.places.data());
  ready.pin = {};
  ready.status = state.fetcher.finish(place);
  if (ready.status.ok()) ready.pin = PageStore::make_pin(state.store, *place.frame);
  place.frame = nullptr;
  --state.left;
  return true;
}

std::size_t PageBatch::left() const {
  return state_->left;
}

Status PageBatch::wait(std::size_t least) {
  State& state = *state_;
  least = std::min(least, state.left);
  if (state.waiter.ready_count >= least) return {};
  const Ticks began = now_ticks();
  const Status status = state.fetcher.wait(state.waiter, least, state.deadline);
  state.counts->waited += now_ticks() - began;
  return status;
}

void PageBatch::clear() {
  State& state = *state_;
  for (std::size_t i = 0; i < state.count; ++i) state.fetcher.drop(state.places[i]);
  state.waiter.ready_count = 0;
  state.count = state.left = 0;
}

}  // namespace farvec::paged
