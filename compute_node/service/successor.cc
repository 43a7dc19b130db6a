#include "compute_node/service/successor.h"

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace farvec::compute_node {
namespace {
constexpr std::chrono::milliseconds kOneAttempt{1'000};
/// An index that cannot be used is fetched again and again, as long as nobody publishes another.
constexpr std::chrono::milliseconds kLastBackOff{10'000};
}  // namespace

Successor::~Successor() {
  stop_.store(true, std::memory_order_relaxed);  // only the flag itself matters
  if (thread_.joinable()) thread_.join();
}

std::unique_ptr<SearchSession> Successor::poll(bool wanted) {
  const auto now = std::chrono::steady_clock::now();
  if (!thread_.joinable()) {
    if (!wanted || now < not_before_) return nullptr;
    done_.store(false, std::memory_order_relaxed);  // the thread begins after it
    thread_ = std::thread([this] { attempt(); });
    return nullptr;
  }
  if (!done_.load(std::memory_order_acquire)) return nullptr;  // pairs with attempt()
  thread_.join();
  if (session_ != nullptr) {
    back_off_ = first_back_off_;
    last_error_.clear();
    return std::move(session_);
  }
  if (error_ != last_error_) {
    spdlog::warn("a newer index cannot be opened, the older one stays: {}", error_);
    last_error_ = error_;
  }
  not_before_ = now + back_off_;
  back_off_ = std::min(back_off_ * 2, kLastBackOff);
  return nullptr;
}

void Successor::attempt() {
  try {
    session_ = backend_.open(kOneAttempt, stop_);
  } catch (const std::exception& error) {
    error_ = error.what();
  }
  done_.store(true, std::memory_order_release);
}

}  // namespace farvec::compute_node
