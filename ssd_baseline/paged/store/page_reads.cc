#include "ssd_baseline/paged/store/page_reads.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "base/check.h"
#include "layout/store/store_page.h"
#include "ssd_baseline/paged/store/page_writer.h"

namespace farvec::paged {
namespace {

constexpr double kFetchPatienceUs = 60e6;  // for a frame, where the deadline is later
constexpr double kFailedPatienceUs = 1e6;  // after a failure dirty frames are never cleaned
// The time between two looks for a frame; a fiber that has waited for long looks less often.
constexpr double kShortestLookUs = 50;
constexpr double kLongestLookUs = 1000;
constexpr double kLookShare = 8;
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

}  // namespace

/// Tries to get the page without suspending. A read that it starts is collected for submit().
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
  // `loader` does not change as long as the frame is pinned; a read of this core ends in poll()
  // only.
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
  PageRead& read = reads[number];
  read.frame = &frame;
  FramePool::pin(frame);  // the caller's pin, besides the read's
  wait.frame = &frame;
  read.waits.insert(wait);
  read.read = {.offset = shared.offset_of(wait.page),
               .memory = frame.bytes.data(),
               .deadline = now_ticks() + us_to_ticks(options.read_limit_us),
               .bytes = shared.page_bytes()};
  started.push_back(&read);
  return Attempt::started;
}

/// Starts the collected reads with one system call.
Status PageFetcher::State::submit() {
  if (started.empty()) return {};
  const Status status = queue.start(started);
  if (status.ok()) {
    StoreCounters::add(shared.counters.page_reads, started.size());
  } else {
    for (disk::Load* load : started) {
      auto& read = static_cast<PageRead&>(*load);
      end_read(read, status);
      give_back(read);
    }
  }
  started.clear();
  return status;
}

bool PageFetcher::State::poll() {
  const bool read = queue.poll();
  const bool foreign_arrived = poll_foreign();
  const bool became_durable = poll_durable();
  return read || foreign_arrived || became_durable;
}

void PageFetcher::State::load_ended(disk::Load& load) {
  auto& read = static_cast<PageRead&>(load);
  Status status;
  if (!load.status().ok()) status = read_failure(load.status().code());
  const PageNumber page = read.frame->page.load(std::memory_order_relaxed);  // pinned
  if (status.ok()) status = layout::check_sealed_page(read.frame->bytes, page);
  if (status.code() == StatusCode::data_loss) log_damage(shared, page, status);
  end_read(read, status);
  if (!load.destination_out()) give_back(read);
}

void PageFetcher::State::load_returned(disk::Load& load) {
  give_back(static_cast<PageRead&>(load));
}

/// Lets go of the page of a read that the disk has returned. Memory that the kernel keeps after the
/// queue was closed does not go back to the pool.
void PageFetcher::State::give_back(PageRead& read) {
  const bool kept = queue.engine().closed() && queue.engine().outstanding() > 0;
  Frame& frame = *std::exchange(read.frame, nullptr);
  if (!kept) FramePool::unpin(frame);
  unused.push_back(static_cast<std::uint32_t>(&read - reads.data()));
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

/// Fibers of other cores may wait for reads that are under way. These end as they would otherwise,
/// at the latest at their deadline.
void PageFetcher::State::close() {
  const auto is_going = [](const PageRead& read) { return read.going(); };
  while (std::ranges::any_of(reads, is_going)) {
    if (!poll()) std::this_thread::sleep_for(kCloseInterval);
  }
  queue.close();
}

/// Whether the page is there or on its way. It does not wait.
bool PageFetcher::State::take_place(PageWait& wait, FetchCounts& counts) {
  const Attempt outcome = attempt(wait);
  if (outcome == Attempt::hit) become_ready(wait);
  counts.hits += outcome == Attempt::hit ? 1 : 0;
  counts.joined += outcome == Attempt::joined ? 1 : 0;
  return outcome <= Attempt::started;
}

/// Does what take_place() does, and waits for a frame if it must.
Status PageFetcher::State::insist(PageWait& wait, Ticks deadline, FetchCounts& counts) {
  const Ticks began = now_ticks();
  StoreCounters::add(shared.counters.waits_for_frames, 1);
  (void)submit();
  Status status;
  while (status.ok() && !take_place(wait, counts)) status = be_patient(began, deadline);
  counts.waited += now_ticks() - began;
  return status;
}

/// Waits for a while, because there is no frame. The frames that others hold come free sooner or
/// later: whatever waits for a frame holds none, but for changes, which share a PinBudget.
Status PageFetcher::State::be_patient(Ticks began, Ticks deadline) {
  const Ticks now = now_ticks();
  const double waited_us = ticks_to_us(now - began);
  const Status failure = shared.failure.get();
  if (!failure.ok() && waited_us > kFailedPatienceUs) return failure;
  if (now >= deadline) {
    return {StatusCode::deadline_exceeded,
            "no page of the buffer came free before the deadline: open it with a larger --buffer, "
            "or with fewer --slots or --threads"};
  }
  if (waited_us > kFetchPatienceUs) {
    return {StatusCode::resource_exhausted,
            "every page of the buffer is in use: open it with a larger --buffer, or with fewer "
            "--slots or --threads"};
  }
  if (last_claim == ClaimOutcome::busy) shared.writer->want_frames();
  const double look_us = std::clamp(waited_us / kLookShare, kShortestLookUs, kLongestLookUs);
  scheduler.suspend_until(std::min(deadline, now + us_to_ticks(look_us)));
  return {};
}

/// Suspends until `wanted` pages are ready.
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

/// Takes the page from the ready ones. The caller's pin remains where the page is there.
Status PageFetcher::State::finish(PageWait& wait) {
  wait.unlink();
  --wait.waiter->ready_count;
  if (wait.frame == nullptr) return wait.failure;
  if (word_of(*wait.frame).state() == FrameState::resident) return {};
  const Status failure = wait.frame->failure;
  FramePool::unpin(*wait.frame);
  return failure;
}

/// Removes the wait from the list that it is in.
void PageFetcher::State::drop(PageWait& wait) {
  if (wait.linked()) wait.unlink();
  if (wait.frame != nullptr) FramePool::unpin(*std::exchange(wait.frame, nullptr));
}

}  // namespace farvec::paged
