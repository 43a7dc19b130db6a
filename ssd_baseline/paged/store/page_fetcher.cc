#include "ssd_baseline/paged/store/page_fetcher.h"

#include "base/check.h"
#include "ssd_baseline/paged/store/page_reads.h"

namespace farvec::paged {

PageFetcher::PageFetcher(PageStore& store, coroutines::Scheduler& scheduler,
                         const PageFetcherOptions& options)
    : state_(std::make_unique<State>(store, scheduler, options)) {}

PageFetcher::~PageFetcher() {
  state_->close();
}

PageStore& PageFetcher::store() {
  return state_->store;
}

coroutines::Scheduler& PageFetcher::scheduler() {
  return state_->scheduler;
}

bool PageFetcher::poll() {
  return state_->poll();
}

std::uint32_t PageFetcher::reads_under_way() const {
  return state_->queue.outstanding();
}

Result<PagePin> PageFetcher::fetch(PageNumber page, Ticks deadline, FetchCounts& counts) {
  if (page >= state_->store.pages()) return Status(StatusCode::not_found, "no such page");
  ++counts.asked;
  PageWaiter waiter;
  PageWait wait;
  wait.waiter = &waiter;
  wait.page = page;
  if (!state_->take_place(wait, counts)) {
    if (const Status status = state_->insist(wait, deadline, counts); !status.ok()) return status;
  }
  if (waiter.ready_count == 0) {
    const Ticks began = now_ticks();
    (void)state_->submit();  // the page has the error too
    const Status status = state_->wait(waiter, 1, deadline);
    counts.waited += now_ticks() - began;
    if (!status.ok()) {
      state_->drop(wait);
      return status;
    }
  }
  if (const Status status = state_->finish(wait); !status.ok()) return status;
  return PageStore::make_pin(state_->store, *wait.frame);
}

Result<PagePin> PageFetcher::add_page(Ticks deadline) {
  const Ticks began = now_ticks();
  for (bool first = true;; first = false) {
    Result<PagePin> added = state_->store.try_add_page();
    if (!added.ok() || added.value()) return added;
    if (first) StoreCounters::add(state_->shared.counters.waits_for_frames, 1);
    if (const Status status = state_->be_patient(began, deadline); !status.ok()) return status;
  }
}

Status PageFetcher::wait_durable(wal::Position position, Ticks deadline) {
  wal::Log& log = *state_->shared.log;
  if (state_->shared.durability != wal::Durability::commit) return log.failure();
  if (log.durable() >= position) return {};
  log.request(position);
  DurableWait wait;
  wait.fiber = state_->scheduler.running();
  wait.position = position;
  FARVEC_CHECK(wait.fiber != nullptr, "only a fiber can wait for the log");
  state_->durable.insert(wait);
  bool in_time = true;
  while (wait.linked() && in_time) in_time = state_->scheduler.suspend_until(deadline);
  if (wait.linked()) wait.unlink();
  if (log.durable() >= position) return {};
  if (const Status failure = log.failure(); !failure.ok()) return failure;
  return {StatusCode::deadline_exceeded, "the log was not durable in time"};
}

}  // namespace farvec::paged
