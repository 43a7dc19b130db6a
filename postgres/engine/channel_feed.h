// A ChannelFeed brings requests from the channel to one core: searches to the core itself, and all
// else to the threads for calls.
#pragma once

#include "postgres/channel/channel.h"
#include "postgres/engine/calls.h"
#include "postgres/engine/index_search.h"
#include "postgres/engine/indexes.h"
#include "search/core/search_core.h"
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace farvec::postgres {

/// Searches whose index had to be opened first. Threads share it.
class LateSearches {
 public:
  void push(std::unique_ptr<IndexSearch> search);
  std::unique_ptr<IndexSearch> pop();  ///< null: there is none

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<IndexSearch>> searches_;
  std::atomic<std::size_t> count_{0};  ///< relaxed: a hint that saves the lock
};

/// What the feeds of all cores share.
struct FeedParts {
  Channel& channel;
  Indexes& indexes;
  Calls& calls;
  LateSearches& late;
  const std::atomic<bool>& stopping;
};

/// All but the constructor is for the core's thread.
class ChannelFeed final : public search::TaskFeed {
 public:
  explicit ChannelFeed(const FeedParts& parts) : parts_(parts) {}

  search::SearchTask* next() override;
  bool finished() override;
  void done(search::SearchTask& task) override;
  void idle() override;

 private:
  std::unique_ptr<IndexSearch> free_search();
  IndexSearch* begin(std::unique_ptr<IndexSearch> search);
  IndexSearch* run(std::unique_ptr<IndexSearch> search, std::shared_ptr<OpenIndex> index);
  bool answer_state(const Request& request) const;
  void open_first(std::unique_ptr<IndexSearch> search, const IndexName& name);

  const FeedParts parts_;
  std::uint32_t turn_ = 0;     ///< the slot that is looked at first
  std::uint32_t running_ = 0;  ///< searches that the core has
  std::vector<std::unique_ptr<IndexSearch>> free_;
};

}  // namespace farvec::postgres
