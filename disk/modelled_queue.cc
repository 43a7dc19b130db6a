#include "disk/modelled_queue.h"

#include <array>

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"

namespace farvec::disk {
namespace {

/// This many in a thousand may be late without a word.
constexpr std::uint64_t kQuietPerMille = 10;

}  // namespace

double microseconds_now() {
  return ticks_to_us(now_ticks());
}

ModelledQueue::~ModelledQueue() {
  if (1000 * late_ <= kQuietPerMille * ended_) return;
  spdlog::warn(
      "{}: {} of {} requests were late, because the real ones below took longer than the model "
      "says: are the files in the page cache?",
      to_string(disk_->model()), late_, ended_);
}

void ModelledQueue::submit(std::span<const BlockRequest> requests) {
  const double now = clock_();
  for (const BlockRequest& request : requests) {
    ends_[request.id] = disk_->end_of(now, request);
  }
  below_->submit(requests);
}

void ModelledQueue::cancel(std::span<const std::uint64_t> ids) {
  for (const std::uint64_t id : ids) {
    if (const auto found = ends_.find(id); found != ends_.end()) found->second = 0;
  }
  below_->cancel(ids);
}

/// Takes what has come from below.
void ModelledQueue::take_results() {
  std::array<BlockResult, 64> some;
  while (!ends_.empty()) {
    const std::size_t count = below_->reap(some);
    for (const BlockResult& result : std::span(some).first(count)) {
      const auto found = ends_.find(result.id);
      FARVEC_CHECK(found != ends_.end());
      if (found->second != 0 && found->second <= last_look_) ++late_;
      ++ended_;
      waiting_.push({found->second, result});
      ends_.erase(found);
    }
    if (count < some.size()) return;
  }
}

std::size_t ModelledQueue::reap(std::span<BlockResult> results) {
  if (ends_.empty() && waiting_.empty()) return 0;
  const double now = clock_();
  take_results();
  last_look_ = now;
  std::size_t count = 0;
  for (; count < results.size() && !waiting_.empty() && waiting_.top().end <= now; ++count) {
    results[count] = waiting_.top().result;
    waiting_.pop();
  }
  return count;
}

std::string ModelledQueue::description() const {
  return to_string(disk_->model()) + ", over " + below_->description();
}

}  // namespace farvec::disk
