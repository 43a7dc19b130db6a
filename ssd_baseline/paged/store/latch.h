// A Latch locks a page's bytes for many readers or one writer, for a few microseconds.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

namespace farvec::paged {

/// Spins first, then yields the processor. It is never held across a suspension of a fiber: a
/// thread that waits for it would wait for a fiber of its own. A writer that waits keeps new
/// readers out.
class Latch {
 public:
  // Acquire: pairs with the release of the former holder.
  void lock_shared() {
    for (std::uint32_t spins = 0;; ++spins) {
      std::uint32_t now = word_.load(std::memory_order_relaxed);
      if ((now & kWriter) == 0 &&
          word_.compare_exchange_weak(now, now + 1, std::memory_order_acquire,
                                      std::memory_order_relaxed)) {
        return;
      }
      pause(spins);
    }
  }
  // Release: the reads under the latch come before the next writer's writes.
  void unlock_shared() { word_.fetch_sub(1, std::memory_order_release); }

  void lock() {
    for (std::uint32_t spins = 0;; ++spins) {
      // Acquire: pairs with the former writer's release.
      if ((word_.fetch_or(kWriter, std::memory_order_acquire) & kWriter) == 0) break;
      pause(spins);
    }
    // Acquire: pairs with the readers' release.
    for (std::uint32_t spins = 0; word_.load(std::memory_order_acquire) != kWriter; ++spins) {
      pause(spins);
    }
  }
  // Release: pairs with the next holder's acquire. No other thread changes the word meanwhile.
  void unlock() { word_.store(0, std::memory_order_release); }

 private:
  static constexpr std::uint32_t kWriter = 1u << 31;
  static constexpr std::uint32_t kSpins = 64;

  static void pause(std::uint32_t spins) {
    if (spins >= kSpins) return std::this_thread::yield();
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }

  std::atomic<std::uint32_t> word_ = 0;  ///< the number of readers, and the writer's bit
};

}  // namespace farvec::paged
