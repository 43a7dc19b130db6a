// A lock of a page's bytes: many readers or one writer, for a few microseconds.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

namespace farvec::paged {

/// Spins, then gives the processor away. Never held across a suspension of a fiber: whoever waits
/// would wait for a fiber of its own thread. A writer that waits keeps new readers out.
class Latch {
 public:
  // Acquire: pairs with the release of whoever held it before.
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
  // Release: what was read here was read before the next writer writes.
  void unlock_shared() { word_.fetch_sub(1, std::memory_order_release); }

  void lock() {
    for (std::uint32_t spins = 0;; ++spins) {
      // Acquire: with the former writer's release.
      if ((word_.fetch_or(kWriter, std::memory_order_acquire) & kWriter) == 0) break;
      pause(spins);
    }
    // Acquire: with the readers' release.
    for (std::uint32_t spins = 0; word_.load(std::memory_order_acquire) != kWriter; ++spins) {
      pause(spins);
    }
  }
  // Release: with the next holder's acquire. Nobody else changes the word meanwhile.
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

  std::atomic<std::uint32_t> word_ = 0;  ///< readers, and the writer's bit
};

}  // namespace farvec::paged
