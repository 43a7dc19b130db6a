// A FramePool is the buffer: it has frames, knows which page is in which, and chooses the frame
// that is evicted when another is needed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/memory.h"
#include "ssd_baseline/paged/store/frame.h"
#include "ssd_baseline/paged/store/page_table.h"

namespace farvec::paged {

/// Whether there is a frame, or why there is none.
enum class ClaimOutcome : std::uint8_t {
  claimed,
  busy,    ///< some frames are dirty, loading or claimed by others: one will be free soon
  pinned,  ///< all hold pages, and all of them are pinned
};

struct FrameClaim {
  ClaimOutcome outcome = ClaimOutcome::busy;
  Frame* frame = nullptr;
};

/// A FrameLook says how the search for a page's frame ended.
struct FrameLook {
  enum class Outcome : std::uint8_t {
    absent,    ///< in no frame
    resident,  ///< pinned
    loading,   ///< pinned; wait until it is not loading any more
    changing,  ///< look again: another thread is changing the frame
  };
  Outcome outcome = Outcome::absent;
  Frame* frame = nullptr;
};

/// Threads share it without locks. It evicts by clock: a hand goes round the frames. A frame that
/// was used since the hand's last visit is left for another round (three at most), other frames
/// without pins are taken, dirty ones never.
class FramePool {
 public:
  /// Throws SystemError when there is not enough memory.
  FramePool(std::size_t frames, std::uint32_t page_bytes);

  std::size_t size() const { return count_; }
  std::uint32_t page_bytes() const { return page_bytes_; }
  std::span<std::byte> memory() { return memory_.span(); }
  PageTable& table() { return table_; }
  Frame& frame(std::size_t i) { return frames_[i]; }

  /// Pins the page's frame if there is one.
  FrameLook look(layout::PageNumber page);
  static void pin(Frame& frame);  ///< adds a pin to one that the caller has already
  static void unpin(Frame& frame);

  /// Returns a frame in state `claimed` with one pin, which is the caller's.
  FrameClaim claim();
  /// Gives a claimed frame back unused.
  static void abandon(Frame& frame);
  /// Makes the claimed frame that of `page`, in state `loading` or `resident`. False when another
  /// frame has become the page's: then the claimed one is free.
  bool publish(Frame& frame, layout::PageNumber page, FrameState state);
  /// Ends a load: the frame is resident, or failed and out of the table. The loader's pin stays.
  void finish_load(Frame& frame, Status status);

  /// Marks a pinned frame. True when it was clean.
  bool mark_dirty(Frame& frame);
  void mark_clean(Frame& frame);
  std::size_t dirty() const { return dirty_.load(std::memory_order_relaxed); }            // a count
  std::uint64_t evictions() const { return evictions_.load(std::memory_order_relaxed); }  // a count
  /// The place of the hand: frames from there on are evicted next.
  std::size_t hand() const { return hand_.load(std::memory_order_relaxed) % count_; }  // a hint

 private:
  bool try_claim(Frame& frame, bool& busy);

  const std::size_t count_;
  const std::uint32_t page_bytes_;
  HugeBuffer memory_;
  std::unique_ptr<Frame[]> frames_;
  PageTable table_;
  std::atomic<std::size_t> hand_ = 0;
  std::atomic<std::size_t> dirty_ = 0;
  std::atomic<std::uint64_t> evictions_ = 0;
};

inline FrameWord word_of(const Frame& frame) {
  // Acquire: a thread that sees `resident` or `failed` sees what the loader left.
  return {frame.word.load(std::memory_order_acquire)};
}

}  // namespace farvec::paged
