#include "ssd_baseline/store/page_fetcher.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.h"
#include "disk/disk_engine.h"
#include "layout/store/store_page.h"
#include "ssd_baseline/store/page_writer.h"
#include "ssd_baseline/store/store_state.h"

namespace farvec::ssd_baseline {
namespace {

constexpr std::size_t kCompletionsAtOnce = 64;
constexpr double kFetchPatienceUs = 10e6;
constexpr double kFetchPinnedPatienceUs = 100e3;  // the pins of others come and go
constexpr double kFetchIntervalUs = 50;
constexpr auto kCloseInterval = std::chrono::microseconds(50);

Status read_failure(StatusCode code) {
  switch (code) {
    case StatusCode::data_loss:
      return {code, "the disk cannot read a page"};
    case StatusCode::deadline_exceeded:
      return {code, "the disk did not read a page in time"};
    default:
      return {code, "a read of a page failed"};
  }
}

/// A place in a list that goes both ways, so that it can leave from anywhere.
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

/// A fiber that waits for pages: woken when as many are ready as it wants.
struct PageWaiter {
  coroutines::Fiber* fiber = nullptr;
  Linked ready;
  std::size_t ready_count = 0;
  std::size_t wanted = 0;
};

/// One page for one caller. First in the list of a read or of foreign ones, then of what is ready.
struct PageWait : Linked {
  Frame* frame = nullptr;  ///< has a pin of the caller's
  PageWaiter* waiter = nullptr;
  PageNumber page = 0;
  Status failure;  ///< of a page that has got no frame
};

void become_ready(PageWait& wait) {
  PageWaiter& waiter = *wait.waiter;
  waiter.ready.insert(wait);
  ++waiter.ready_count;
}

/// A read of this core. It has a pin of its own until the disk has given the memory back.
struct PageRead {
  Frame* frame = nullptr;
  bool ended = false;  ///< its deadline has passed; the disk has the memory still
  Linked waits;
};

struct DurableWait : Linked {
  coroutines::Fiber* fiber = nullptr;
  wal::Position position = 0;
};

}  // namespace

struct PageFetcher::State {
  State(PageStore& store_given, coroutines::Scheduler& scheduler_given,
        const PageFetcherOptions& options_given)
      : store(store_given),
        shared(store_given.state()),
        scheduler(scheduler_given),
        options(options_given),
        engine(shared.parts->open_queue({shared.file}, options_given.max_outstanding)),
        reads(options_given.max_outstanding) {
    for (auto i = options.max_outstanding; i > 0; --i) unused.push_back(i - 1);
    requests.reserve(reads.size());
  }

  /// How an attempt to have a page ended.
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
  void take(const disk::DiskCompletion& completion);
  void end_read(PageRead& read, Status status);
  void arrive(PageWait& wait);
  bool poll_foreign();
  bool poll_durable();
  void close();

  PageStore& store;
  StoreState& shared;
  coroutines::Scheduler& scheduler;
  const PageFetcherOptions options;
  disk::DiskEngine engine;
  std::vector<PageRead> reads;
  std::vector<std::uint32_t> unused;        ///< places in reads
  std::vector<disk::DiskRequest> requests;  ///< collected for submit()
  Linked foreign;                           ///< waits for reads of other cores
  Linked durable;                           ///< waits for the log
  ClaimOutcome last_claim = ClaimOutcome::claimed;
};

/// Does not suspend. What it starts is collected for submit().
PageFetcher::State::Attempt PageFetcher::State::attempt(PageWait& wait) {
  const FrameLook look = shared.pool.look(wait.page);
  switch (look.outcome) {
    case FrameLook::Outcome::resident:
      wait.frame = look.frame;
      return Attempt::hit;
    case FrameLook::Outcome::loading:
      return join(*look.frame, wait);
    case FrameLook::Outcome::changing:
      return Attempt::later;
    case FrameLook::Outcome::absent:
      return start_read(wait);
  }
  return Attempt::later;
}

PageFetcher::State::Attempt PageFetcher::State::join(Frame& frame, PageWait& wait) {
  wait.frame = &frame;
  // The loader is the frame's as long as it is pinned; a read of this core ends in poll() only.
  if (frame.loader == this && word_of(frame).state() == FrameState::loading) {
    reads[frame.loader_slot].waits.insert(wait);
  } else {
    foreign.insert(wait);
  }
  return Attempt::joined;
}

PageFetcher::State::Attempt PageFetcher::State::start_read(PageWait& wait) {
  last_claim = ClaimOutcome::claimed;
  if (unused.empty()) return Attempt::later;
  const FrameClaim claim = shared.pool.claim();
  last_claim = claim.outcome;
  if (claim.outcome != ClaimOutcome::claimed) return Attempt::later;
  Frame& frame = *claim.frame;
  const std::uint32_t number = unused.back();
  frame.loader = this;
  frame.loader_slot = number;
  if (!shared.pool.publish(frame, wait.page, FrameState::loading)) return Attempt::later;
  unused.pop_back();
  reads[number].frame = &frame;
  reads[number].ended = false;
  FramePool::pin(frame);  // the caller's, besides the read's
  wait.frame = &frame;
  reads[number].waits.insert(wait);
  requests.push_back({.token = number,
                      .offset = shared.offset_of(wait.page),
                      .memory = frame.bytes.data(),
                      .deadline = now_ticks() + us_to_ticks(options.read_limit_us),
                      .bytes = shared.page_bytes()});
  return Attempt::started;
}

/// Starts what has been collected with one system call.
Status PageFetcher::State::submit() {
  if (requests.empty()) return {};
  const Status status = engine.post(requests);
  if (status.ok()) {
    StoreCounters::add(shared.counters.page_reads, requests.size());
  } else {
    for (const disk::DiskRequest& request : requests) {
      end_read(reads[request.token], status);
      FramePool::unpin(*std::exchange(reads[request.token].frame, nullptr));
      unused.push_back(static_cast<std::uint32_t>(request.token));
    }
  }
  requests.clear();
  return status;
}

bool PageFetcher::State::poll() {
  disk::DiskCompletion completions[kCompletionsAtOnce];
  const std::size_t count = engine.poll(completions);
  for (std::size_t i = 0; i < count; ++i) take(completions[i]);
  const bool foreign_arrived = poll_foreign();
  const bool became_durable = poll_durable();
  return count > 0 || foreign_arrived || became_durable;
}

void PageFetcher::State::take(const disk::DiskCompletion& completion) {
  PageRead& read = reads[completion.token];
  if (!read.ended) {
    Status status;
    if (completion.status != StatusCode::ok) status = read_failure(completion.status);
    const PageNumber page = read.frame->page.load(std::memory_order_relaxed);  // pinned
    if (status.ok()) status = layout::check_sealed_page(read.frame->bytes, page);
    if (status.code() == StatusCode::data_loss) log_damage(shared, page, status);
    end_read(read, status);
  }
  read.ended = true;
  if (!completion.returned) return;
  FramePool::unpin(*std::exchange(read.frame, nullptr));
  unused.push_back(static_cast<std::uint32_t>(completion.token));
}

void PageFetcher::State::end_read(PageRead& read, Status status) {
  shared.pool.finish_load(*read.frame, status);
  while (read.waits.linked()) arrive(static_cast<PageWait&>(*read.waits.after));
}

void PageFetcher::State::arrive(PageWait& wait) {
  wait.unlink();
  become_ready(wait);
  PageWaiter& waiter = *wait.waiter;
  if (waiter.ready_count >= waiter.wanted && waiter.fiber != nullptr) scheduler.wake(waiter.fiber);
}

bool PageFetcher::State::poll_foreign() {
  bool any = false;
  for (Linked* item = foreign.after; item != &foreign;) {
    auto& wait = static_cast<PageWait&>(*item);
    item = item->after;
    if (word_of(*wait.frame).state() == FrameState::loading) continue;
    arrive(wait);
    any = true;
  }
  return any;
}

bool PageFetcher::State::poll_durable() {
  if (!durable.linked()) return false;
  const wal::Position position = shared.log->durable();
  const bool failed = !shared.log->failure().ok();
  bool any = false;
  for (Linked* item = durable.after; item != &durable;) {
    auto& wait = static_cast<DurableWait&>(*item);
    item = item->after;
    if (wait.position > position && !failed) continue;
    wait.unlink();
    scheduler.wake(wait.fiber);
    any = true;
  }
  return any;
}

/// Fibers of other cores may wait for reads that are out: these end as they would have, at the
/// latest at their deadline.
void PageFetcher::State::close() {
  const auto is_out = [](const PageRead& read) { return read.frame != nullptr && !read.ended; };
  while (std::ranges::any_of(reads, is_out)) {
    if (!poll()) std::this_thread::sleep_for(kCloseInterval);
  }
  engine.close();
  for (PageRead& read : reads) {
    if (read.frame == nullptr) continue;
    // Memory that the kernel keeps is nobody's any more.
    if (engine.outstanding() == 0) FramePool::unpin(*read.frame);
    read.frame = nullptr;
  }
}

/// Whether the page is there or on its way, without waiting.
bool PageFetcher::State::take_place(PageWait& wait, FetchCounts& counts) {
  const Attempt outcome = attempt(wait);
  if (outcome == Attempt::hit) become_ready(wait);
  counts.hits += outcome == Attempt::hit ? 1 : 0;
  counts.joined += outcome == Attempt::joined ? 1 : 0;
  return outcome <= Attempt::started;
}

/// As take_place(), and waits for a frame if need be.
Status PageFetcher::State::insist(PageWait& wait, Ticks deadline, FetchCounts& counts) {
  const Ticks began = now_ticks();
  StoreCounters::add(shared.counters.waits_for_frames, 1);
  (void)submit();
  Status status;
  while (status.ok() && !take_place(wait, counts)) status = be_patient(began, deadline);
  counts.waited += now_ticks() - began;
  return status;
}

Status PageFetcher::State::be_patient(Ticks began, Ticks deadline) {
  const Ticks now = now_ticks();
  if (now >= deadline) {
    return {StatusCode::deadline_exceeded, "the deadline passed before there was a frame"};
  }
  const double waited_us = ticks_to_us(now - began);
  const Status failure = shared.failure.get();  // nobody cleans dirty frames any more
  const bool hopeless = last_claim == ClaimOutcome::pinned || !failure.ok();
  if (waited_us > (hopeless ? kFetchPinnedPatienceUs : kFetchPatienceUs)) {
    if (!failure.ok()) return failure;
    return {StatusCode::resource_exhausted,
            "every frame is pinned: raise the store's buffer_bytes, or search with fewer fibers"};
  }
  if (last_claim == ClaimOutcome::busy) shared.writer->want_frames();
  scheduler.suspend_until(std::min(deadline, now + us_to_ticks(kFetchIntervalUs)));
  return {};
}

/// Until so many pages are ready.
Status PageFetcher::State::wait(PageWaiter& waiter, std::size_t wanted, Ticks deadline) {
  waiter.fiber = scheduler.running();
  FARVEC_CHECK(waiter.fiber != nullptr, "only a fiber can wait for pages");
  waiter.wanted = wanted;
  bool in_time = true;
  while (waiter.ready_count < wanted && in_time) in_time = scheduler.suspend_until(deadline);
  waiter.fiber = nullptr;
  if (waiter.ready_count >= wanted) return {};
  return {StatusCode::deadline_exceeded, "the deadline passed before the pages had come"};
}

/// Takes it from what is ready. The caller's pin is left where the page is there.
Status PageFetcher::State::finish(PageWait& wait) {
  wait.unlink();
  --wait.waiter->ready_count;
  if (wait.frame == nullptr) return wait.failure;
  if (word_of(*wait.frame).state() == FrameState::resident) return {};
  const Status failure = wait.frame->failure;
  FramePool::unpin(*wait.frame);
  return failure;
}

/// Wherever it is.
void PageFetcher::State::drop(PageWait& wait) {
  if (wait.linked()) wait.unlink();
  if (wait.frame != nullptr) FramePool::unpin(*std::exchange(wait.frame, nullptr));
}

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
    (void)state_->submit();  // what it says, the page says too
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

struct PageBatch::State {
  State(PageFetcher& fetcher_given, std::size_t capacity)
      : store(fetcher_given.store()), fetcher(*fetcher_given.state_), places(capacity) {
    for (PageWait& place : places) place.waiter = &waiter;
  }

  PageStore& store;
  PageFetcher::State& fetcher;
  std::vector<PageWait> places;
  PageWaiter waiter;
  std::size_t count = 0;  ///< of the places: asked for
  std::size_t left = 0;   ///< of them: not taken
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
  (void)state.fetcher.submit();  // what it says, the pages say too
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

}  // namespace farvec::ssd_baseline
