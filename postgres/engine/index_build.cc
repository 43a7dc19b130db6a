#include "postgres/engine/index_build.h"

#include "base/types.h"
#include <chrono>

namespace farvec::postgres {
namespace {

constexpr double kForgottenUs = 60e6;

std::chrono::nanoseconds time_until(Ticks until) {
  const Ticks now = now_ticks();
  return std::chrono::nanoseconds(
      until <= now ? 0 : static_cast<std::int64_t>(ticks_to_us(until - now) * 1e3));
}

}  // namespace

IndexBuild::IndexBuild(collection::Collection& collection, std::size_t most_bytes)
    : collection_(collection), most_bytes_(most_bytes) {}

IndexBuild::~IndexBuild() {
  stopping_.store(true, std::memory_order_relaxed);
  if (thread_.joinable()) thread_.join();
}

bool IndexBuild::take(const changes::RowBatch& rows) {
  const std::lock_guard lock(mutex_);
  const std::size_t row_bytes = rows.rows.row_bytes();
  const std::size_t more =
      rows.ids.size() * (row_bytes + sizeof(std::uint64_t)) + rows.attributes.bytes.size();
  if (failure_ != nullptr) std::rethrow_exception(failure_);
  if (running_) return false;
  if (!vids_.empty() && bytes() + more > most_bytes_) {
    begin();
    return false;
  }
  for (std::size_t i = 0; i < rows.ids.size(); ++i) {
    const auto* const row = static_cast<const std::byte*>(rows.rows.row(i));
    vectors_.insert(vectors_.end(), row, row + row_bytes);
  }
  vids_.insert(vids_.end(), rows.ids.begin(), rows.ids.end());
  tuples_.append(rows.attributes);
  bytes_.fetch_add(more, std::memory_order_relaxed);
  return true;
}

/// The caller holds the lock, and no segment is under way. A thread that has made one before needs
/// the lock no more.
void IndexBuild::begin() {
  if (thread_.joinable()) thread_.join();
  asked_at_.store(now_ticks(), std::memory_order_relaxed);
  thread_ = std::thread([this] { run(); });
  running_ = true;
}

ToldBuild IndexBuild::wait_for_room(Ticks until) {
  asked_at_.store(now_ticks(), std::memory_order_relaxed);
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, time_until(until), [this] { return !running_; });
  if (failure_ != nullptr) std::rethrow_exception(failure_);
  return told();
}

ToldBuild IndexBuild::advance(Ticks until) {
  {
    const std::lock_guard lock(mutex_);
    if (!running_ && failure_ == nullptr && !vids_.empty()) begin();
  }
  return wait_for_room(until);
}

/// The caller holds the lock.
ToldBuild IndexBuild::told() const {
  const std::uint64_t linked = running_ ? collection_.state().import.linked : 0;
  return {.rows = done_ + vids_.size(),
          .linked = done_ + linked,
          .finished = running_ ? 0u : 1u,
          .zero = 0};
}

bool IndexBuild::gives_up() const {
  if (stopping_.load(std::memory_order_relaxed)) return true;
  // Another thread may ask after this one has read the time: a difference would be below zero.
  return now_ticks() > asked_at_.load(std::memory_order_relaxed) + us_to_ticks(kForgottenUs);
}

void IndexBuild::run() {
  std::exception_ptr failure;
  try {
    const layout::CollectionManifest& shape = collection_.shape();
    const VectorView rows =
        packed_view(vectors_.data(), vids_.size(), shape.dimension, shape.source_type);
    (void)collection_.import({rows, vids_, tuples_.view()}, [this] { return gives_up(); });
  } catch (...) {
    failure = std::current_exception();
  }
  const std::lock_guard lock(mutex_);
  if (failure == nullptr) done_ += vids_.size();
  vectors_ = {};
  vids_ = {};
  tuples_ = {};
  bytes_.store(0, std::memory_order_relaxed);
  failure_ = failure;
  running_ = false;
  changed_.notify_all();
}

}  // namespace farvec::postgres
