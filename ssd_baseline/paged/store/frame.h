// A Frame is a place for one page in the buffer. It says how many hold the page, and what can be
// done with it now.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/memory.h"
#include "base/status.h"
#include "layout/store/page_format.h"
#include "ssd_baseline/paged/store/latch.h"

namespace farvec::paged {

enum class FrameState : std::uint32_t {
  free,      ///< holds nothing
  claimed,   ///< for one thread alone, between two pages
  loading,   ///< the page is on its way from the disk
  resident,  ///< the bytes are the page
  failed,    ///< the page could not be read: `failure` says why; free once the last pin is gone
};

/// A frame's pins, its state, whether it is dirty, and how often it was used. They are one word, so
/// that each of them changes only where the others allow it.
struct FrameWord {
  static constexpr std::uint32_t kPin = 1;
  static constexpr std::uint32_t kPinMask = (1u << 20) - 1;
  static constexpr std::uint32_t kUse = 1u << 20;
  static constexpr std::uint32_t kUseMask = 3u << 20;
  static constexpr std::uint32_t kDirty = 1u << 22;
  static constexpr std::uint32_t kStateShift = 24;

  std::uint32_t word = 0;

  static FrameWord of(FrameState state, std::uint32_t pins) {
    return {(static_cast<std::uint32_t>(state) << kStateShift) | pins};
  }
  FrameState state() const { return static_cast<FrameState>(word >> kStateShift); }
  std::uint32_t pins() const { return word & kPinMask; }
  bool dirty() const { return (word & kDirty) != 0; }
  std::uint32_t uses() const { return (word & kUseMask) / kUse; }
};

/// The page number changes only while the frame is claimed, and `failure` before the frame is
/// failed. The bytes change under the latch, or while only the frame's loader has them.
struct alignas(kCacheLineBytes) Frame {
  std::atomic<std::uint32_t> word = 0;
  std::atomic<layout::PageNumber> page = layout::kNoPage;
  Latch latch;
  std::span<std::byte> bytes;
  const void* loader = nullptr;   ///< the fetcher that reads it, while it is loading
  std::uint32_t loader_slot = 0;  ///< the loader's own number for the read
  Status failure;
};

}  // namespace farvec::paged
