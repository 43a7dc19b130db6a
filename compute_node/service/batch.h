// A Batch holds the queries of one request, from its admission to the answer.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "attributes/condition.h"
#include "base/memory.h"
#include "compute_node/service/work_rate.h"
#include "search/core/search_core.h"

namespace farvec::compute_node {

class Batch;

/// A search with its place in a feed's lists. Only the feed uses the links.
struct QueuedTask : search::SearchTask {
  QueuedTask* next = nullptr;
  QueuedTask* previous = nullptr;
  Batch* batch = nullptr;
  WorkUnits work = 1;
  bool expired_waiting = false;  ///< its time ran out before it got a slot
};

struct BatchShape {
  std::uint32_t queries = 0;
  std::size_t query_bytes = 0;  ///< bytes of one query in the stored type
  search::SearchParameters parameters = {};
  bool partial = false;
  bool exact = false;                             ///< the query is compared with all rows
  float within = search::SearchRequest{}.within;  ///< results are no farther
  bool user_ids = false;  ///< the ids are those of users, not numbers of rows
  attributes::ConditionPointer condition = nullptr;  ///< what results meet; null: nothing
  search::FilterPlan plan = search::FilterPlan::chosen;
  std::uint32_t refine = 0;              ///< SearchRequest::refine
  bool candidates = false;               ///< SearchRequest::candidates
  std::vector<std::size_t> select = {};  ///< columns whose values come with the results
  Ticks deadline = 0;                    ///< absolute
  WorkUnits work = 1;                    ///< work of each query, at least 1
};

/// Owns its tasks, their query vectors (each 64-byte aligned) and their results. It cannot be
/// moved, because cores hold pointers into it while it is in flight.
class Batch {
 public:
  explicit Batch(const BatchShape& shape);
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  std::vector<QueuedTask>& tasks() { return tasks_; }
  /// Returns where query i is to be written before the batch is submitted.
  std::byte* query_slot(std::size_t i);

  /// What it was made with.
  const BatchShape& shape() const { return shape_; }

  /// Ends one task. True for the last of the batch: then the caller owns the batch again.
  bool finish_one();

  /// An answer that goes out at `now`, after the deadline, does not count as one: the queries end
  /// with an exceeded deadline.
  void refuse_late_answer(Ticks now);

  /// True once the client no longer waits for the answer: tasks that have not started may be
  /// dropped.
  bool cancelled() const;

  /// Set when the client gives up, at any time until the batch is answered.
  std::shared_ptr<std::atomic<bool>> cancel_flag = std::make_shared<std::atomic<bool>>(false);
  /// Called once, by the replier's thread, when every task has its result.
  std::function<void(Batch&)> answer;
  Ticks admitted = 0;

 private:
  friend class Replier;
  struct alignas(kCacheLineBytes) Line {
    std::byte bytes[kCacheLineBytes];
  };

  const BatchShape shape_;
  std::size_t lines_per_query_;
  std::vector<Line> queries_;
  std::vector<std::uint64_t> ids_;
  std::vector<float> distances_;
  std::vector<QueuedTask> tasks_;
  std::atomic<std::uint32_t> pending_;
  Batch* next_answered_ = nullptr;
};

}  // namespace farvec::compute_node
