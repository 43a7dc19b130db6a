#include "compute_node/service/engine.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <system_error>

#include "base/check.h"
#include "base/log.h"

namespace farvec::compute_node {
namespace {

constexpr std::chrono::milliseconds kReadyLook{1};

/// Pins the calling thread to the core-th allowed processor, round robin.
void pin_thread(unsigned core) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  unsigned wanted = core % static_cast<unsigned>(CPU_COUNT(&allowed));
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed) || wanted-- != 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (pthread_setaffinity_np(pthread_self(), sizeof one, &one) != 0) {
      spdlog::warn("core {} cannot be pinned to processor {}", core, cpu);
    }
    return;
  }
}

}  // namespace

Engine::Engine(std::unique_ptr<SearchSession> session, EngineOptions options, Replier& replier)
    : session_(std::move(session)), options_(options), budget_(options.queue) {
  FARVEC_CHECK(options_.threads > 0, "an engine without a core");
  for (unsigned core = 0; core < options_.threads; ++core) {
    feeds_.push_back(std::make_unique<CoreFeed>(budget_, replier));
  }
  try {
    for (unsigned core = 0; core < options_.threads; ++core) {
      threads_.emplace_back([this, core] { run_core(core); });
    }
  } catch (const std::system_error& error) {
    const std::size_t started = threads_.size();
    stop({StatusCode::unavailable, "the cores could not be started"});
    throw Error("starting the thread of core {} of {}: {}", started, options_.threads,
                error.what());
  }
}

Engine::~Engine() {
  stop({StatusCode::unavailable, "the compute node is shutting down"});
}

Status Engine::submit(std::unique_ptr<Batch>& batch) {
  std::vector<QueuedTask>& tasks = batch->tasks();
  if (!budget_.try_take(static_cast<std::uint32_t>(tasks.size()))) {
    return {StatusCode::resource_exhausted, "the queue of the compute node is full"};
  }
  Batch* owned = batch.release();
  owned->admitted = now_ticks();
  // The batch may be answered and destroyed as soon as its last task is pushed.
  QueuedTask* task = owned->tasks().data();
  for (QueuedTask* const end = task + owned->tasks().size(); task != end; ++task) {
    // The turn breaks ties in rotation; it is relaxed because any core is a correct choice.
    least_loaded(turn_.fetch_add(1, std::memory_order_relaxed)).push(*task);
  }
  return {};
}

Ticks Engine::expected(std::uint32_t queries, WorkUnits work, Ticks now) const {
  const CoreFeed& feed = least_loaded(turn_.load(std::memory_order_relaxed));
  const std::uint64_t share = (std::uint64_t{queries} + feeds_.size() - 1) / feeds_.size();
  const WorkUnits ahead = feed.work() + (share - 1) * work;
  return ahead == 0 ? 0 : feed.rate().expected(ahead + work, now);
}

CoreFeed& Engine::least_loaded(std::uint32_t first) const {
  CoreFeed* best = feeds_[first % feeds_.size()].get();
  for (std::size_t i = 1; i < feeds_.size(); ++i) {
    CoreFeed* feed = feeds_[(first + i) % feeds_.size()].get();
    if (feed->load() < best->load()) best = feed;
  }
  return *best;
}

void Engine::await_ready(const std::atomic<bool>& stop) const {
  const auto end = std::chrono::steady_clock::now() + options_.ready_bound;
  for (;;) {
    const bool ready = all_asked();  // read before the check of what may have gone wrong since
    const bool lost =
        !healthy();  // read before the failure: the core that broke it has noted why by then
    rethrow_failure();
    if (lost) throw UnreachableError("the index was lost while its cores began");
    if (ready) return;
    // Relaxed: only the flag itself matters.
    if (stop.load(std::memory_order_relaxed))
      throw UnreachableError("told to stop while its cores began");
    if (std::chrono::steady_clock::now() >= end) {
      throw UnreachableError("its cores could not search after {:g} s",
                             std::chrono::duration<double>(options_.ready_bound).count());
    }
    std::this_thread::sleep_for(kReadyLook);
  }
}

bool Engine::all_asked() const {
  return std::all_of(feeds_.begin(), feeds_.end(), [](const auto& feed) { return feed->asked(); });
}

void Engine::note_failure(std::exception_ptr failure) {
  const std::lock_guard lock(failure_mutex_);
  if (failure_ == nullptr) failure_ = std::move(failure);
}

void Engine::rethrow_failure() const {
  const std::lock_guard lock(failure_mutex_);
  if (failure_ != nullptr) std::rethrow_exception(failure_);
}

void Engine::expire(Ticks now) {
  for (auto& feed : feeds_) feed->expire(now);
}

void Engine::stop(Status reason) {
  for (auto& feed : feeds_) feed->close(reason);
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

bool Engine::healthy() const {
  // Acquire pairs with run_core(): what a core logged happened before.
  return !broken_.load(std::memory_order_acquire) && session_->alive();
}

bool Engine::idle() const {
  return std::all_of(feeds_.begin(), feeds_.end(), [](const auto& feed) { return feed->empty(); });
}

std::uint32_t Engine::running() const {
  std::uint32_t sum = 0;
  for (const auto& feed : feeds_) sum += feed->running();
  return sum;
}

void Engine::run_core(unsigned core) {
  if (options_.pin) pin_thread(core);
  CoreFeed& feed = *feeds_[core];
  try {
    session_->run_core(core, feed);
  } catch (const std::exception& e) {
    if (feed.asked()) {
      spdlog::error("core {} stopped: {}", core, e.what());
    } else {
      note_failure(std::current_exception());  // await_ready() throws it to its caller
    }
  }
  constexpr Status kStopped{StatusCode::unavailable, "a core of the compute node has stopped"};
  if (!feed.finished()) {
    broken_.store(true, std::memory_order_release);
    feed.close(kStopped);
  }
  feed.end_abandoned(kStopped);
}

std::shared_ptr<Engine> start_engine(std::unique_ptr<SearchSession> session,
                                     const EngineOptions& options, Replier& replier,
                                     const std::atomic<bool>& stop) {
  auto engine = std::make_shared<Engine>(std::move(session), options, replier);
  engine->await_ready(stop);
  return engine;
}

}  // namespace farvec::compute_node
