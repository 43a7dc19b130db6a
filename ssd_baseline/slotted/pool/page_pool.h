// A PagePool keeps pages in DRAM and evicts the least recently used one first. It is there to
// compare the record pool with.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/memory.h"
#include "ssd_baseline/slotted/pool/pool_concept.h"

namespace farvec::slotted {

/// All cores share it. A lock guards the list, and is never held while a record is visited.
template <PageCodec CodecType>
class PagePool {
 public:
  using Codec = CodecType;

  struct Options {
    std::size_t frames = 0;
    std::uint32_t page_bytes = 0;
    std::uint32_t pages = 0;  ///< pages on disk
  };
  /// `map` holds the page of every record and must outlive the pool. Throws SystemError when there
  /// is not enough memory.
  PagePool(Codec codec, std::span<const std::uint32_t> map, const Options& options)
      : codec_(std::move(codec)),
        map_(map),
        page_bytes_(options.page_bytes),
        memory_(options.frames * options.page_bytes),
        frames_(options.frames),
        table_(options.pages, kNoSlot) {
    for (std::uint32_t f = 0; f < frames_.size(); ++f) push_front(f);
  }

  /// The bytes of a budget that a frame takes; the table is additional.
  static std::size_t frame_bytes(std::uint32_t page_bytes) { return page_bytes + sizeof(Frame); }
  static std::size_t table_bytes(std::uint32_t pages) { return pages * sizeof(std::uint32_t); }

  const Codec& codec() const { return codec_; }
  std::size_t slots() const { return frames_.size(); }
  std::size_t dram_bytes() const {
    return memory_.size() + frames_.capacity() * sizeof(Frame) +
           table_.capacity() * sizeof(std::uint32_t);
  }

  RecordPlace place(NodeId id) const {
    const std::uint32_t page = map_[id];
    const std::lock_guard lock(mutex_);
    const std::uint32_t frame = table_[page];
    if (frame == kNoSlot) return {RecordPlace::State::absent, page};
    return {frames_[frame].view ? RecordPlace::State::resident : RecordPlace::State::loading, page};
  }

  template <typename Visit>
  bool read(NodeId id, Visit&& visit, Status& status) {
    Frame* const frame = pin(map_[id]);
    if (frame == nullptr) return false;
    const auto record = codec_.find(*frame->view, id);
    status = record.ok() ? visit(record.value()) : record.status();
    // Release: pairs with claim(), whose owner overwrites the bytes that were read here.
    frame->pins.fetch_sub(1, std::memory_order_release);
    return true;
  }

  SlotClaim claim(NodeId, std::uint32_t page, std::uint32_t steps) {
    const std::lock_guard lock(mutex_);
    if (table_[page] != kNoSlot) return {SlotClaim::Outcome::taken};
    std::uint32_t f = last_;
    for (std::uint32_t i = 0; i < steps && f != kNoSlot; ++i, f = frames_[f].newer) {
      Frame& frame = frames_[f];
      // Acquire: pairs with read()'s release.
      if (frame.pins.load(std::memory_order_acquire) > 0) continue;
      unlink(f);
      const bool evicted = frame.page != kNoSlot;
      if (evicted) table_[frame.page] = kNoSlot;
      frame.view.reset();
      frame.page = page;
      table_[page] = f;
      return {SlotClaim::Outcome::claimed, f, evicted};
    }
    return {};
  }

  void fill(std::uint32_t index, NodeId, const typename Codec::Page& page) {
    std::byte* const bytes = memory_.data() + std::size_t{index} * page_bytes_;
    std::memcpy(bytes, page.bytes(), page_bytes_);
    const std::lock_guard lock(mutex_);
    frames_[index].view = codec_.moved(page, {bytes, page_bytes_});
    push_front(index);
  }

  void release(std::uint32_t index) {
    const std::lock_guard lock(mutex_);
    table_[frames_[index].page] = kNoSlot;
    frames_[index].page = kNoSlot;
    push_back(index);
  }

  /// Keeps nothing more: the whole page is here.
  std::pair<std::uint32_t, std::uint32_t> take_along(NodeId, std::uint32_t,
                                                     const typename Codec::Page&) {
    return {0, 0};
  }

 private:
  /// A frame is in the list except while it is being filled. The lock guards all of it except
  /// `pins`.
  struct Frame {
    std::uint32_t page = kNoSlot;
    std::uint32_t newer = kNoSlot;
    std::uint32_t older = kNoSlot;
    std::atomic<std::uint32_t> pins{0};  ///< raised under the lock, lowered without it
    std::optional<typename Codec::Page> view;
  };

  Frame* pin(std::uint32_t page) {
    const std::lock_guard lock(mutex_);
    const std::uint32_t index = table_[page];
    if (index == kNoSlot || !frames_[index].view) return nullptr;
    Frame& frame = frames_[index];
    frame.pins.fetch_add(1, std::memory_order_relaxed);  // the lock orders it
    if (index != first_) {
      unlink(index);
      push_front(index);
    }
    return &frame;
  }

  void unlink(std::uint32_t index) {
    Frame& frame = frames_[index];
    (frame.newer == kNoSlot ? first_ : frames_[frame.newer].older) = frame.older;
    (frame.older == kNoSlot ? last_ : frames_[frame.older].newer) = frame.newer;
  }
  void push_front(std::uint32_t index) {
    frames_[index].newer = kNoSlot;
    frames_[index].older = first_;
    (first_ == kNoSlot ? last_ : frames_[first_].newer) = index;
    first_ = index;
  }
  void push_back(std::uint32_t index) {
    frames_[index].older = kNoSlot;
    frames_[index].newer = last_;
    (last_ == kNoSlot ? first_ : frames_[last_].older) = index;
    last_ = index;
  }

  const Codec codec_;
  const std::span<const std::uint32_t> map_;
  const std::uint32_t page_bytes_;
  HugeBuffer memory_;
  mutable std::mutex mutex_;
  std::vector<Frame> frames_;
  std::vector<std::uint32_t> table_;  ///< the frame of each page
  std::uint32_t first_ = kNoSlot;     ///< the most recently used frame
  std::uint32_t last_ = kNoSlot;
};

}  // namespace farvec::slotted
