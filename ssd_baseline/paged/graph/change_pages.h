// These functions say how many pages a change of an HNSW graph holds; a PinBudget says which
// changes may hold theirs at once.
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

/// Returns how many pages one insert changes at most: one for each neighbour, on every layer that a
/// vertex reaches.
std::size_t most_change_pages(const layout::HnswShape& shape, std::uint32_t ef_construction);
/// Returns the same for the graph in a folder. Throws Error when its pages cannot be read.
std::size_t stored_change_pages(const std::filesystem::path& folder, std::uint32_t page_bytes);

/// Returns how many pages a buffer must have so that such changes have room, beside the reads of
/// others.
std::size_t frames_for_changes(std::size_t change_pages);

/// Lets changes hold as many pages as the buffer has room for, and one change of any size in any
/// case. Each change has all of its pages before it waits for anything. Threads share it.
class PinBudget {
 public:
  explicit PinBudget(std::size_t frames);

  /// To be called inside a fiber: returns ok when this many pages may be held. deadline_exceeded.
  Status take(std::size_t pages, Ticks deadline, coroutines::Scheduler& scheduler);
  /// Takes more pages for a change that has some. It never waits.
  void take_more(std::size_t pages) { taken_.fetch_add(pages, std::memory_order_relaxed); }
  void give_back(std::size_t pages) { taken_.fetch_sub(pages, std::memory_order_relaxed); }

 private:
  bool try_take(std::size_t pages);

  const std::size_t most_;
  /// Relaxed, because it is only a count; the pages have pins of their own.
  std::atomic<std::size_t> taken_ = 0;
};

}  // namespace farvec::paged
