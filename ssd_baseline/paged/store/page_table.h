// A PageTable knows where each page is: its frame, and from which position on the log can make it
// again.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "layout/store/page_format.h"
#include "wal/log.h"

namespace farvec::paged {

inline constexpr std::uint32_t kNoFrame = 0xffffffff;

/// A PageEntry says what the store knows of a page that exists.
struct PageEntry {
  std::atomic<std::uint32_t> frame = kNoFrame;
  /// One more than a position at or before a record that holds the whole page (an image, an init);
  /// 0 when there is none. Such a record after the last checkpoint heals a torn page.
  std::atomic<wal::Position> whole_since = 0;
};

/// Grows by chunks that stay where they are; any number of threads may read while one grows it.
class PageTable {
 public:
  PageTable() : chunks_(new std::atomic<PageEntry*>[kMaxChunks]()) {}
  ~PageTable() {
    for (std::size_t i = 0; i < kMaxChunks; ++i) {
      delete[] chunks_[i].load(std::memory_order_relaxed);  // no other thread is here
    }
  }
  PageTable(const PageTable&) = delete;
  PageTable& operator=(const PageTable&) = delete;

  /// Makes entries for pages below `pages`.
  void reserve(layout::PageNumber pages) {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i * kChunkPages < pages; ++i) {
      if (chunks_[i].load(std::memory_order_relaxed) != nullptr) continue;  // under the lock
      // Release: pairs with find(), which reads the entries.
      chunks_[i].store(new PageEntry[kChunkPages], std::memory_order_release);
    }
  }

  /// Returns nullptr for a page that has no entry.
  PageEntry* find(layout::PageNumber page) const {
    // Acquire: pairs with reserve().
    PageEntry* const chunk = chunks_[page / kChunkPages].load(std::memory_order_acquire);
    return chunk == nullptr ? nullptr : chunk + page % kChunkPages;
  }

 private:
  static constexpr std::size_t kChunkPages = 1u << 16;
  static constexpr std::size_t kMaxChunks = 1u << 16;  // together all numbers

  std::mutex mutex_;
  std::unique_ptr<std::atomic<PageEntry*>[]> chunks_;
};

}  // namespace farvec::paged
