#include "compute_node/service/successor.h"

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace farvec::compute_node {
namespace {
/// An index that cannot be used is fetched again and again, until another one is published.
constexpr std::chrono::milliseconds kLastBackOff{10'000};
}  // namespace

Successor::~Successor() {
  stop_.store(true, std::memory_order_relaxed);  // only the flag itself matters
  if (thread_.joinable()) thread_.join();
}

std::shared_ptr<Engine> Successor::poll(bool wanted) {
  const auto now = std::chrono::steady_clock::now();
  if (!thread_.joinable()) {
    if (!wanted || now < not_before_) return nullptr;
    done_.store(false, std::memory_order_relaxed);  // the thread begins after it
    thread_ = std::thread([this] { attempt(); });
    return nullptr;
  }
  if (!done_.load(std::memory_order_acquire)) return nullptr;  // pairs with attempt()
  thread_.join();
  if (engine_ == nullptr) {
    refuse();
    not_before_ = now + back_off_;
    back_off_ = std::min(back_off_ * 2, kLastBackOff);
    return nullptr;
  }
  back_off_ = options_.first_back_off;
  last_error_.clear();
  return std::exchange(engine_, nullptr);
}

void Successor::refuse() {
  (opened_ ? refused_.cores : refused_.open).fetch_add(1, std::memory_order_relaxed);
  if (error_ == last_error_) return;
  spdlog::warn(
      "{}, the older one stays: {}",
      opened_ ? "the cores of a newer index cannot begin" : "a newer index cannot be opened",
      error_);
  last_error_ = error_;
}

void Successor::attempt() {
  opened_ = false;
  try {
    auto session = backend_.open(SearchBackend::kOneAttempt, stop_);
    opened_ = true;
    engine_ = start_engine(std::move(session), options_.engine, replier_, stop_);
  } catch (const std::exception& error) {
    error_ = error.what();
  }
  done_.store(true, std::memory_order_release);
}

}  // namespace farvec::compute_node
