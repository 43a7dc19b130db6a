// One core's share of a compute node: a scheduler, an endpoint, and slots that run searches.
#pragma once

#include <cstdint>
#include <memory>

#include "base/clock.h"
#include "base/status.h"
#include "base/types.h"

namespace farvec::compute_node {

/// What one search cost. Exact: the same for the same index and parameters on every machine.
struct QueryCounts {
  std::uint32_t hops = 0;        ///< expand() calls
  std::uint32_t reads = 0;       ///< records fetched from the tier
  std::uint32_t cache_hits = 0;  ///< records found in the record cache instead
  std::uint32_t estimates = 0;   ///< distances estimated from codes
  std::uint32_t distances = 0;   ///< exact distances
  std::uint64_t bytes = 0;       ///< fetched from the tier
};

/// One query from admission to answer. Owned by whoever feeds it; not moved while a core has it.
struct SearchTask {
  const std::byte* query = nullptr;  ///< dimension elements of the index's stored type
  std::uint32_t k = 0;
  std::uint32_t list = 0;
  std::uint32_t width = 1;
  Ticks deadline = 0;          ///< absolute
  NodeId* ids = nullptr;       ///< room for k, nearest first
  float* distances = nullptr;  ///< room for k; exact

  Status status;
  std::uint32_t found = 0;  ///< how many of the k are filled in
  QueryCounts counts;
  Ticks started = 0;
  Ticks finished = 0;
};

/// Where a core gets its tasks. All calls come from the core's thread and must not block, except
/// idle().
class TaskFeed {
 public:
  virtual ~TaskFeed() = default;
  /// A task to start now, or nullptr.
  virtual SearchTask* next() = 0;
  /// True when next() will never again return a task.
  virtual bool finished() = 0;
  /// The task has its result. Called inside the task's fiber.
  virtual void done(SearchTask& task) = 0;
  /// The core has no live search: may block for at most a few milliseconds.
  virtual void idle() = 0;
};

}  // namespace farvec::compute_node
