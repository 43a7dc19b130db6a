// How many pages a change of an HNSW graph holds, and who may hold them at once.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>

#include "base/clock.h"
#include "base/status.h"
#include "coroutines/scheduler.h"
#include "layout/hnsw/hnsw_shape.h"

namespace farvec::paged {

/// Pages that one insert changes at most: a neighbour's each, on every layer that a vertex reaches.
std::size_t most_change_pages(const layout::HnswShape& shape, std::uint32_t ef_construction);
/// The same of the graph that lies in a folder. Throws Error when its pages cannot be read.
std::size_t stored_change_pages(const std::filesystem::path& folder, std::uint32_t page_bytes);

/// Pages of a buffer in which changes of so many have room, beside the reads of others.
std::size_t frames_for_changes(std::size_t change_pages);

/// Lets changes hold as many pages as the buffer has room for, one change of any size at least:
/// each has all of its pages before it waits for anything. Shared by threads.
class PinBudget {
 public:
  explicit PinBudget(std::size_t frames);

  /// From inside a fiber: returns ok when so many pages may be held. deadline_exceeded.
  Status take(std::size_t pages, Ticks deadline, coroutines::Scheduler& scheduler);
  /// Some more, for who has some: never waits.
  void take_more(std::size_t pages) { taken_.fetch_add(pages, std::memory_order_relaxed); }
  void give_back(std::size_t pages) { taken_.fetch_sub(pages, std::memory_order_relaxed); }

 private:
  bool try_take(std::size_t pages);

  const std::size_t most_;
  /// Relaxed: a count; the pages have pins of their own.
  std::atomic<std::size_t> taken_ = 0;
};

}  // namespace farvec::paged
