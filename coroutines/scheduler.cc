#include "coroutines/scheduler.h"

#include <cxxabi.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "base/check.h"
#include "base/log.h"

namespace farvec::coroutines {

namespace {

namespace context = boost::context::detail;

thread_local Scheduler* current_scheduler = nullptr;

// Not inlined: a thread-local variable's address must not be kept in a register across a switch.
[[gnu::noinline]] Scheduler* exchange_current(Scheduler* scheduler) {
  asm volatile("");
  return std::exchange(current_scheduler, scheduler);
}

void pause_core() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

Scheduler::Scheduler(SchedulerOptions options)
    : options_(options),
      stacks_(options.max_fibers, options.stack_bytes),
      fibers_(std::make_unique<Fiber[]>(options.max_fibers)) {
  FARVEC_CHECK(options.max_fibers > 0 && options.poll_interval > 0);
  main_.scheduler_ = this;
  expired_.reserve(options.max_fibers);
  for (std::size_t i = options.max_fibers; i-- > 0;) {
    Fiber& fiber = fibers_[i];
    fiber.scheduler_ = this;
    fiber.next_ = std::exchange(unused_, &fiber);
    sanitizer::create(fiber.stack_state_, stacks_.lowest(i), stacks_.stack_bytes());
    fiber.context_ =
        context::make_fcontext(stacks_.top(i), stacks_.stack_bytes(), &Scheduler::fiber_main);
  }
}

Scheduler::~Scheduler() {
  FARVEC_CHECK(live_ == 0, "{} fibers are still alive", live_);
  for (std::size_t i = 0; i < options_.max_fibers; ++i) {
    sanitizer::destroy(fibers_[i].stack_state_);
  }
}

[[gnu::noinline]] Scheduler& Scheduler::current() {
  asm volatile("");
  FARVEC_CHECK(current_scheduler != nullptr, "called outside a fiber");
  return *current_scheduler;
}

Status Scheduler::spawn(std::function<void()> entry) {
  if (unused_ == nullptr) {
    return {StatusCode::resource_exhausted, "all fibers of the scheduler are in use"};
  }
  Fiber& fiber = *unused_;
  unused_ = fiber.next_;
  ++live_;
  fiber.entry_ = std::move(entry);
  fiber.woken_ = false;
  fiber.deadline_ = kNoDeadline;
  push_ready(fiber);
  return {};
}

// A slot's context lives as long as its scheduler: when its entry has ended it waits here for the
// next one, so that the end of a fiber is a switch like any other.
void Scheduler::fiber_main(context::transfer_t from) {
  auto& previous = *static_cast<Fiber*>(from.data);
  previous.context_ = from.fctx;
  Scheduler& scheduler = *previous.scheduler_;
  Fiber& fiber = *scheduler.running_;
  sanitizer::arrive(fiber.stack_state_, previous.stack_state_);
  while (true) {
    scheduler.run_entry(fiber);
    scheduler.retire(fiber);
  }
}

void Scheduler::run_entry(Fiber& fiber) {
  try {
    fiber.entry_();
  } catch (const std::exception& e) {
    spdlog::error("a fiber ended with an exception: {}", e.what());
  } catch (...) {
    spdlog::error("a fiber ended with an exception of an unknown type");
  }
  fiber.entry_ = nullptr;
}

void Scheduler::retire(Fiber& fiber) {
  fiber.state_ = Fiber::State::unused;
  fiber.next_ = std::exchange(unused_, &fiber);
  --live_;
  switch_to(next_fiber());
}

// earliest_deadline_ is a lower bound that a wake() does not raise. Setting a deadline is therefore
// one comparison, and a deadline costs at most one scan when its time has come.
bool Scheduler::wake_expired() {
  if (earliest_deadline_ == kNoDeadline) return false;
  const Ticks now = now_ticks();
  if (now < earliest_deadline_) return false;
  expired_.clear();
  earliest_deadline_ = kNoDeadline;
  for (std::size_t i = 0; i < options_.max_fibers; ++i) {
    Fiber& fiber = fibers_[i];
    if (fiber.state_ != Fiber::State::suspended) continue;
    if (fiber.deadline_ <= now) {
      expired_.push_back(&fiber);
    } else {
      earliest_deadline_ = std::min(earliest_deadline_, fiber.deadline_);
    }
  }
  std::sort(expired_.begin(), expired_.end(),
            [](const Fiber* a, const Fiber* b) { return a->deadline_ < b->deadline_; });
  for (Fiber* fiber : expired_) {
    fiber->timed_out_ = true;
    wake(fiber);
  }
  return !expired_.empty();
}

bool Scheduler::run_round() {
  switches_left_ = options_.poll_interval;
  const bool ran = ready_head_ != nullptr;
  if (ran) switch_to(next_fiber());
  const bool expired = wake_expired();
  const bool polled = poller_ && poller_();
  return ran || expired || polled;
}

Scheduler* Scheduler::enter_thread() {
  FARVEC_CHECK(running_ == &main_, "run() called from inside a fiber");
  sanitizer::adopt_thread(main_.stack_state_);
  thread_exceptions_ = reinterpret_cast<Fiber::ExceptionState*>(abi::__cxa_get_globals());
  return exchange_current(this);
}

bool Scheduler::run_once() {
  Scheduler* const outer = enter_thread();
  const bool did_something = run_round();
  exchange_current(outer);
  return did_something;
}

void Scheduler::run() {
  Scheduler* const outer = enter_thread();
  while (live_ > 0) {
    if (run_round()) continue;
    FARVEC_CHECK(poller_ || earliest_deadline_ != kNoDeadline,
                 "all {} fibers wait, and nothing can wake them", live_);
    pause_core();
  }
  exchange_current(outer);
}

}  // namespace farvec::coroutines
