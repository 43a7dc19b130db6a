#include "compute_node/service/supervisor.h"

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace farvec::compute_node {
namespace {
constexpr std::chrono::milliseconds kTick{5};
/// An index that has been served for this long does not count as a failed attempt.
constexpr std::chrono::seconds kSettled{5};
constexpr Status kLost{StatusCode::unavailable, "the memory node was lost during the search"};
constexpr Status kShutDown{StatusCode::unavailable, "the compute node is shutting down"};
}  // namespace

Supervisor::Supervisor(SearchBackend& backend, Replier& replier, SupervisorOptions options)
    : backend_(backend),
      replier_(replier),
      options_(options),
      back_off_(options_.first_back_off),
      thread_([this] { run(); }) {}

Supervisor::~Supervisor() {
  stop();
}

std::shared_ptr<Engine> Supervisor::engine() const {
  const std::lock_guard lock(mutex_);
  return engine_;
}

std::string Supervisor::waiting_for() const {
  const std::lock_guard lock(mutex_);
  if (last_error_.empty()) return backend_.target();
  return fmt::format("{} ({})", backend_.target(), last_error_);
}

std::string Supervisor::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void Supervisor::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Supervisor::run() {
  // It ends with stop() or a failed first opening; every wait inside is bounded.
  while (std::shared_ptr<Engine> engine = open_until_there()) {
    if (ever_open_) reopened_.fetch_add(1, std::memory_order_relaxed);
    ever_open_ = true;
    const auto opened = std::chrono::steady_clock::now();
    serve(std::move(engine));
    // An index that breaks as soon as it is open is not opened again at full speed.
    if (std::chrono::steady_clock::now() - opened > kSettled) back_off_ = options_.first_back_off;
    if (!wait_back_off()) return;
  }
}

std::shared_ptr<Engine> Supervisor::open_until_there() {
  while (!stopped_within(std::chrono::milliseconds(0))) {
    try {
      auto engine = start_engine(backend_.open(SearchBackend::kOneAttempt, stopping_),
                                 options_.engine, replier_, stopping_);
      note({});
      return engine;
    } catch (const UnreachableError& e) {
      note(e.what());
    } catch (const std::exception& e) {
      note(e.what());
      if (!ever_open_) {
        give_up(fmt::format("cannot open {}: {}", backend_.target(), e.what()));
        return nullptr;
      }
    }
    if (!ever_open_ && std::chrono::steady_clock::now() - started_ > options_.attach_bound) {
      const auto seconds = std::chrono::duration<double>(options_.attach_bound).count();
      give_up(
          fmt::format("waited {:g} s for {}: {}; start it, or wait longer with "
                      "--attach-seconds",
                      seconds, backend_.target(), last_error_));
      return nullptr;
    }
    if (!wait_back_off()) return nullptr;
  }
  return nullptr;
}

void Supervisor::serve(std::shared_ptr<Engine> engine) {
  Successor successor(backend_, replier_, {options_.engine, options_.first_back_off}, refused_);
  take_over(engine);
  bool stopping = false;
  while (engine->healthy() && !(stopping = stopped_within(kTick))) {
    engine->expire(now_ticks());
    const bool wanted = !is_retiring() && engine->superseded();
    if (auto next = successor.poll(wanted)) {
      engine = std::move(next);
      take_over(engine);
      switched_.fetch_add(1, std::memory_order_release);
    }
  }
  publish(nullptr);
  if (!stopping) {
    note("lost while serving");
    spdlog::warn("{} is lost; queries end with UNAVAILABLE until it is back", backend_.target());
  }
  engine->stop(stopping ? kShutDown : kLost);
  end_retired(stopping ? kShutDown : kLost);
}

void Supervisor::take_over(const std::shared_ptr<Engine>& engine) {
  const ServedIndex index = engine->present();
  spdlog::info("serving {} vectors of {} x {} ({}) from {}, tier {}, generation {}", index.count,
               index.dimension, to_string(index.source_type), to_string(index.metric),
               backend_.target(), index.tier, index.generation);
  publish(engine);
}

void Supervisor::publish(std::shared_ptr<Engine> engine) {
  const std::lock_guard lock(mutex_);
  if (engine != nullptr) retired_ = std::move(engine_);
  engine_ = std::move(engine);
}

bool Supervisor::is_retiring() {
  {
    const std::lock_guard lock(mutex_);
    if (retired_ == nullptr) return false;
    retired_->expire(now_ticks());
    // The retired engine is no longer given out, so that without other holders an idle one stays
    // idle.
    const bool busy = retired_.use_count() > 1 || !retired_->idle();
    if (busy && retired_->healthy()) return true;
  }
  end_retired(kLost);
  return false;
}

void Supervisor::end_retired(Status reason) {
  std::shared_ptr<Engine> ended;
  {
    const std::lock_guard lock(mutex_);
    ended = std::move(retired_);
    retired_ = nullptr;
  }
  if (ended == nullptr) return;
  ended->stop(reason);
  spdlog::info("generation {} has answered its last query", ended->index().generation);
}

std::uint64_t Supervisor::unanswered() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t sum = 0;
  for (const auto& engine : {engine_, retired_}) {
    if (engine != nullptr) sum += std::uint64_t{engine->queued()} + engine->running();
  }
  return sum;
}

bool Supervisor::wait_back_off() {
  const auto now = std::exchange(back_off_, std::min(back_off_ * 2, options_.last_back_off));
  return !stopped_within(now);
}

bool Supervisor::stopped_within(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  return wake_.wait_for(lock, time, [this] { return stopping_.load(); });
}

void Supervisor::note(const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (!why.empty() && why != last_error_) {
    const auto seconds = std::chrono::duration<double>(options_.attach_bound).count();
    spdlog::info("waiting for {}: {}{}", backend_.target(), why,
                 ever_open_ ? "" : fmt::format("; trying again for up to {:g} s", seconds));
  }
  last_error_ = why;
}

void Supervisor::give_up(const std::string& why) {
  const std::lock_guard lock(mutex_);
  failure_ = why;
}

}  // namespace farvec::compute_node
