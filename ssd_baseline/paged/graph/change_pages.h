// These functions say how many pages a change of an HNSW graph holds; a PinBudget says which
// changes may hold theirs at once.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <mutex>

#include "base/clock.h"
#include "base/status.h"
#include "coroutines/scheduler.h"
#include "layout/hnsw/hnsw_shape.h"

namespace farvec::paged {

/// Returns how many pages one change holds at most, which is an insert or a repair of a vacuum: one
/// for each neighbour, on every layer that a vertex reaches.
std::size_t most_change_pages(const layout::HnswShape& shape);
/// Returns the same for the graph in a folder. Throws Error when its pages cannot be read.
std::size_t stored_change_pages(const std::filesystem::path& folder, std::uint32_t page_bytes);

/// Returns how many pages a buffer must have so that one such change has room, beside the reads of
/// others. With fewer it may never go in.
std::size_t least_frames_for_changes(std::size_t change_pages);
/// Returns the same for as many changes at once.
std::size_t frames_for_changes(std::size_t change_pages, std::size_t at_once);

/// Lets changes hold as many pages as the buffer has room for, and one change of any size in any
/// case. Each change has all of its pages before it waits for anything. Changes that wait are
/// served in the order in which they came, however many pages they want. Threads share it.
class PinBudget {
 public:
  explicit PinBudget(std::size_t frames);

  /// To be called inside a fiber: returns ok when this many pages may be held. deadline_exceeded.
  Status take(std::size_t pages, Ticks deadline, coroutines::Scheduler& scheduler);
  /// Takes more pages for a change that has some. It never waits.
  void take_more(std::size_t pages);
  void give_back(std::size_t pages);

 private:
  /// A Waiter is a change that waits. It lives on the stack of its fiber.
  struct Waiter {
    std::size_t pages = 0;
    /// It is stored after the last access by others, and the fiber ends the waiter's life after it
    /// has read it.
    std::atomic<bool> served = false;
  };
  /// These are called with the lock held.
  bool has_room(std::size_t pages) const { return taken_ == 0 || taken_ + pages <= most_; }
  void serve();

  const std::size_t most_;
  std::mutex mutex_;  ///< guards the members below; it is never held across a suspension
  std::size_t taken_ = 0;
  std::deque<Waiter*> waiting_;  ///< the first has waited longest
};

}  // namespace farvec::paged
