#include "postgres/engine/channel_feed.h"

#include "base/status_error.h"
#include "postgres/channel/requests.h"
#include <utility>

namespace farvec::postgres {
namespace {
/// A wake-up may be lost with the process that would have sent it.
constexpr std::uint32_t kIdleMs = 50;
}  // namespace

void LateSearches::push(std::unique_ptr<IndexSearch> search) {
  const std::lock_guard lock(mutex_);
  searches_.push_back(std::move(search));
  count_.store(searches_.size(), std::memory_order_relaxed);
}

std::unique_ptr<IndexSearch> LateSearches::pop() {
  if (count_.load(std::memory_order_relaxed) == 0) return nullptr;
  const std::lock_guard lock(mutex_);
  if (searches_.empty()) return nullptr;
  std::unique_ptr<IndexSearch> search = std::move(searches_.back());
  searches_.pop_back();
  count_.store(searches_.size(), std::memory_order_relaxed);
  return search;
}

std::unique_ptr<IndexSearch> ChannelFeed::free_search() {
  if (free_.empty()) return std::make_unique<IndexSearch>();
  std::unique_ptr<IndexSearch> search = std::move(free_.back());
  free_.pop_back();
  return search;
}

/// A core that has searches leaves new ones to cores that sleep, which their processes wake.
search::SearchTask* ChannelFeed::next() {
  if (parts_.stopping.load(std::memory_order_relaxed)) return nullptr;
  if (std::unique_ptr<IndexSearch> late = parts_.late.pop(); late != nullptr) {
    if (IndexSearch* const task = begin(std::move(late)); task != nullptr) return task;
  }
  if (running_ > 0 && channel_any_sleeps(&parts_.channel)) return nullptr;
  ChannelTaken taken;
  // Each turn takes a request, of which every slot has one at most.
  while (channel_take(&parts_.channel, turn_, &taken)) {
    turn_ = taken.slot + 1;
    if (taken.operation != kAskSearch) {
      Request request;
      request.copy(parts_.channel, taken);
      if (!answer_state(request)) parts_.calls.submit(std::move(request));
      continue;
    }
    std::unique_ptr<IndexSearch> search = free_search();
    search->asked.copy(parts_.channel, taken);
    if (IndexSearch* const task = begin(std::move(search)); task != nullptr) return task;
  }
  return nullptr;
}

/// Scans ask for the state of their index first. That of an open index is told at once: another
/// thread would cost more than the answer. Returns false for all else.
bool ChannelFeed::answer_state(const Request& request) const {
  if (request.operation() != kAskState) return false;
  try {
    RequestReader reader = request.reader();
    const std::shared_ptr<OpenIndex> index =
        parts_.indexes.find(name_of(reader.read<AskedIndex>()));
    if (index == nullptr) return false;
    request.answer_with(index->state());
  } catch (...) {
    request.fail_with_current();
  }
  return true;
}

/// Returns the task for the core; null where it was answered, or has to wait for its index.
IndexSearch* ChannelFeed::begin(std::unique_ptr<IndexSearch> search) {
  try {
    const IndexName name = search->index_name();
    std::shared_ptr<OpenIndex> index = parts_.indexes.find(name);
    if (index != nullptr) return run(std::move(search), std::move(index));
    open_first(std::move(search), name);
  } catch (...) {
    if (search == nullptr) throw;
    search->asked.fail_with_current();
    free_.push_back(std::move(search));
  }
  return nullptr;
}

IndexSearch* ChannelFeed::run(std::unique_ptr<IndexSearch> search,
                              std::shared_ptr<OpenIndex> index) {
  try {
    if (search->asked.is_given_up()) {
      throw StatusError(StatusCode::cancelled, "it was given up before it began");
    }
    search->prepare(std::move(index));
  } catch (...) {
    search->asked.fail_with_current();
    free_.push_back(std::move(search));
    return nullptr;
  }
  ++running_;
  return search.release();
}

/// The search is held by a pointer that can be copied, as the work of a thread must be.
void ChannelFeed::open_first(std::unique_ptr<IndexSearch> search, const IndexName& name) {
  const auto held = std::make_shared<std::unique_ptr<IndexSearch>>(std::move(search));
  parts_.calls.run([parts = parts_, held, name] {
    try {
      (void)parts.indexes.open(name);
    } catch (...) {
      (*held)->asked.fail_with_current();
      return;
    }
    parts.late.push(std::move(*held));
    channel_wake_all(&parts.channel);
  });
}

bool ChannelFeed::finished() {
  return parts_.stopping.load(std::memory_order_relaxed);
}

void ChannelFeed::done(search::SearchTask& task) {
  std::unique_ptr<IndexSearch> search(static_cast<IndexSearch*>(&task));
  search->finish();
  --running_;
  free_.push_back(std::move(search));
}

void ChannelFeed::idle() {
  if (!finished()) channel_sleep(&parts_.channel, kIdleMs);
}

}  // namespace farvec::postgres
