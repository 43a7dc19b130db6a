#include "compute_node/service/engine.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>

#include "base/check.h"
#include "base/log.h"

namespace farvec::compute_node {
namespace {

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
  for (unsigned core = 0; core < options_.threads; ++core) {
    threads_.emplace_back([this, core] { run_core(core); });
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
  // The batch may be answered and gone as soon as its last task is pushed.
  QueuedTask* task = owned->tasks().data();
  for (QueuedTask* const end = task + owned->tasks().size(); task != end; ++task) {
    least_loaded().push(*task);
  }
  return {};
}

CoreFeed& Engine::least_loaded() {
  // Ties go round; relaxed because any core is a correct choice.
  const std::uint32_t first = turn_.fetch_add(1, std::memory_order_relaxed);
  CoreFeed* best = feeds_[first % feeds_.size()].get();
  for (std::size_t i = 1; i < feeds_.size(); ++i) {
    CoreFeed* feed = feeds_[(first + i) % feeds_.size()].get();
    if (feed->load() < best->load()) best = feed;
  }
  return *best;
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
    spdlog::error("core {} stopped: {}", core, e.what());
  }
  constexpr Status kStopped{StatusCode::unavailable, "a core of the compute node has stopped"};
  if (!feed.finished()) {
    broken_.store(true, std::memory_order_release);
    feed.close(kStopped);
  }
  feed.end_abandoned(kStopped);
}

}  // namespace farvec::compute_node
