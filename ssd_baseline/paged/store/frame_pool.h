// The buffer: frames, which page is in which, and which one goes when another is needed.
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

/// Why there is no frame.
enum class ClaimOutcome : std::uint8_t {
  claimed,
  busy,    ///< some frames are dirty, loading or in somebody's hands: one will be free soon
  pinned,  ///< all hold pages, and all of them are pinned
};

struct FrameClaim {
  ClaimOutcome outcome = ClaimOutcome::busy;
  Frame* frame = nullptr;
};

/// How a look for a page ended.
struct FrameLook {
  enum class Outcome : std::uint8_t {
    absent,    ///< in no frame
    resident,  ///< pinned
    loading,   ///< pinned; wait until it is not loading any more
    changing,  ///< look again: the frame is in somebody's hands
  };
  Outcome outcome = Outcome::absent;
  Frame* frame = nullptr;
};

/// Shared by threads without locks. Clock: a hand goes round; a frame that was used since the hand
/// came by last is left for another round (three at most), others without pins are taken, dirty
/// ones never.
class FramePool {
 public:
  /// Throws SystemError without memory.
  FramePool(std::size_t frames, std::uint32_t page_bytes);

  std::size_t size() const { return count_; }
  std::uint32_t page_bytes() const { return page_bytes_; }
  std::span<std::byte> memory() { return memory_.span(); }
  PageTable& table() { return table_; }
  Frame& frame(std::size_t i) { return frames_[i]; }

  /// Pins the page's frame if there is one.
  FrameLook look(layout::PageNumber page);
  static void pin(Frame& frame);  ///< one that the caller has pinned already
  static void unpin(Frame& frame);

  /// A frame in state `claimed` with one pin, the caller's.
  FrameClaim claim();
  /// Gives it back unused.
  static void abandon(Frame& frame);
  /// Makes the claimed frame that of `page`, in state `loading` or `resident`. False when another
  /// frame has become that: the claimed one is free then.
  bool publish(Frame& frame, layout::PageNumber page, FrameState state);
  /// The end of a load: resident, or failed and out of the table. The loader's pin stays.
  void finish_load(Frame& frame, Status status);

  /// Of a pinned frame. True when it was clean.
  bool mark_dirty(Frame& frame);
  void mark_clean(Frame& frame);
  std::size_t dirty() const { return dirty_.load(std::memory_order_relaxed); }            // a count
  std::uint64_t evictions() const { return evictions_.load(std::memory_order_relaxed); }  // same
  /// Where the hand is: frames from there on go next.
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
  // Acquire: who sees `resident` or `failed` sees what the loader left.
  return {frame.word.load(std::memory_order_acquire)};
}

}  // namespace farvec::paged
