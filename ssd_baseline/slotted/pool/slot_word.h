// A SlotWord keeps the state and the pins of one slot in one atomic word.
// Source: VeloANN section 3.2, Figure 5; the pins are ours.
#pragma once

#include <atomic>
#include <cstdint>

namespace farvec::slotted {

/// A SlotWord goes through these states: Free -> Locked -> Occupied <-> Marked -> Locked -> ... The
/// thread that has made it Locked owns the slot until it publishes or frees it. Readers pin a slot
/// that is Occupied or Marked, and only a Marked slot without pins can be locked again. A word of
/// zeros is Locked, so that memory which the kernel has zeroed has no slot for anyone. Safe for any
/// number of threads.
class SlotWord {
 public:
  enum class State : std::uint32_t { locked = 0, free = 1, occupied = 2, marked = 3 };

  // Relaxed: these look from outside, which is good for hints only.
  State state() const { return state_of(word_.load(std::memory_order_relaxed)); }
  bool readable() const { return is_readable(word_.load(std::memory_order_relaxed)); }
  std::uint32_t pins() const { return word_.load(std::memory_order_relaxed) & kPinMask; }

  /// Pins the slot and gives it its second chance: a pinned slot is Occupied. False when it is Free
  /// or Locked.
  bool pin() {
    std::uint32_t word = word_.load(std::memory_order_relaxed);
    while (is_readable(word)) {
      // Acquire: what the owner wrote before publish() is seen.
      if (word_.compare_exchange_weak(word, word_of(State::occupied, (word & kPinMask) + 1),
                                      std::memory_order_acquire, std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }

  /// Release: the reads that the pin has protected come before an eviction's writes.
  void unpin() { word_.fetch_sub(1, std::memory_order_release); }

  enum class Step : std::uint8_t { passed, claimed_free, claimed_marked };

  /// The clock hand visits the slot: it takes it when it is Free, or Marked without pins, and marks
  /// it when it is Occupied.
  Step pass() {
    std::uint32_t word = word_.load(std::memory_order_relaxed);
    switch (state_of(word)) {
      case State::free:
        return lock(word) ? Step::claimed_free : Step::passed;
      case State::occupied:
        // Relaxed: no read or write depends on it. When the race is lost, a reader has won it.
        word_.compare_exchange_strong(word, word_of(State::marked, word & kPinMask),
                                      std::memory_order_relaxed, std::memory_order_relaxed);
        return Step::passed;
      case State::marked:
        return (word & kPinMask) == 0 && lock(word) ? Step::claimed_marked : Step::passed;
      case State::locked:
        break;
    }
    return Step::passed;
  }

  /// The owner shows what it has written. Release: pairs with pin().
  void publish(State state) { word_.store(word_of(state, 0), std::memory_order_release); }
  /// Release: the next owner's writes come after this one's.
  void set_free() { word_.store(word_of(State::free, 0), std::memory_order_release); }

 private:
  static constexpr std::uint32_t kStateShift = 30;
  static constexpr std::uint32_t kPinMask = (1u << kStateShift) - 1;

  static State state_of(std::uint32_t word) { return static_cast<State>(word >> kStateShift); }
  static bool is_readable(std::uint32_t word) { return state_of(word) >= State::occupied; }
  static std::uint32_t word_of(State state, std::uint32_t pins) {
    return static_cast<std::uint32_t>(state) << kStateShift | pins;
  }
  /// Locks the slot if its word is `expected`. Acquire: pairs with unpin() and set_free().
  bool lock(std::uint32_t& expected) {
    return word_.compare_exchange_strong(expected, word_of(State::locked, 0),
                                         std::memory_order_acquire, std::memory_order_relaxed);
  }

  std::atomic<std::uint32_t> word_{std::uint32_t{1} << kStateShift};  ///< Free
};

}  // namespace farvec::slotted
