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
  full_ = full_ || thread_.joinable() || bytes() + more > most_bytes_;
  if (full_) return false;
  for (std::size_t i = 0; i < rows.ids.size(); ++i) {
    const auto* const row = static_cast<const std::byte*>(rows.rows.row(i));
    vectors_.insert(vectors_.end(), row, row + row_bytes);
  }
  vids_.insert(vids_.end(), rows.ids.begin(), rows.ids.end());
  tuples_.append(rows.attributes);
  bytes_.fetch_add(more, std::memory_order_relaxed);
  return true;
}

ToldBuild IndexBuild::advance(Ticks until) {
  asked_at_.store(now_ticks(), std::memory_order_relaxed);
  std::unique_lock lock(mutex_);
  if (!thread_.joinable() && !finished_) thread_ = std::thread([this] { run(); });
  changed_.wait_for(lock, time_until(until), [this] { return finished_; });
  if (failure_ != nullptr) std::rethrow_exception(failure_);
  const collection::BuildProgress progress = collection_.state().import;
  return {.rows = vids_.size(),
          .linked = finished_ ? vids_.size() : progress.linked,
          .finished = finished_ ? 1u : 0u,
          .zero = 0};
}

bool IndexBuild::gives_up() const {
  if (stopping_.load(std::memory_order_relaxed)) return true;
  return now_ticks() - asked_at_.load(std::memory_order_relaxed) > us_to_ticks(kForgottenUs);
}

/// The rows do not change any more: take() refuses others while there is a thread.
void IndexBuild::run() {
  std::exception_ptr failure;
  try {
    const layout::CollectionManifest& shape = collection_.shape();
    const VectorView rows =
        packed_view(vectors_.data(), vids_.size(), shape.dimension, shape.source_type);
    if (!vids_.empty()) {
      (void)collection_.import({rows, vids_, tuples_.view()}, [this] { return gives_up(); });
    }
  } catch (...) {
    failure = std::current_exception();
  }
  const std::lock_guard lock(mutex_);
  vectors_ = {};
  tuples_ = {};
  bytes_.store(0, std::memory_order_relaxed);
  failure_ = failure;
  finished_ = true;
  changed_.notify_all();
}

}  // namespace farvec::postgres
