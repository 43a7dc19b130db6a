// Tells the address and thread sanitizers that the stack changes. It does nothing in other builds:
// Debian's Boost.Context is built without sanitizer support, so every switch is annotated here.
#pragma once

#include <cstddef>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FARVEC_ASAN 1
#elif __has_feature(thread_sanitizer)
#define FARVEC_TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define FARVEC_ASAN 1
#elif defined(__SANITIZE_THREAD__)
#define FARVEC_TSAN 1
#endif

#if defined(FARVEC_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#elif defined(FARVEC_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

namespace farvec::coroutines::sanitizer {

#if defined(FARVEC_ASAN)

/// A StackState has ASan's notes on a stack that is not running.
struct StackState {
  void* fake_stack = nullptr;
  const void* bottom = nullptr;
  std::size_t bytes = 0;
};
inline void create(StackState& state, const void* bottom, std::size_t bytes) {
  state.bottom = bottom;
  state.bytes = bytes;
}
inline void adopt_thread(StackState&) {}
inline void destroy(StackState&) {}
/// Is the last act on `from`'s stack before the jump.
inline void leave(StackState& from, const StackState& to) {
  __sanitizer_start_switch_fiber(&from.fake_stack, to.bottom, to.bytes);
}
/// Is the first act on `to`'s stack after the jump. It learns the bounds of `from`, because the
/// bounds of a thread's own stack can be known in no other way.
inline void arrive(const StackState& to, StackState& from) {
  __sanitizer_finish_switch_fiber(to.fake_stack, &from.bottom, &from.bytes);
}
inline void forget_memory(const void* address, std::size_t bytes) {
  ASAN_UNPOISON_MEMORY_REGION(address, bytes);
}

#elif defined(FARVEC_TSAN)

/// TSan's own fiber for one of ours.
struct StackState {
  void* fiber = nullptr;
};
inline void create(StackState& state, const void*, std::size_t) {
  state.fiber = __tsan_create_fiber(0);
}
inline void adopt_thread(StackState& state) {
  state.fiber = __tsan_get_current_fiber();
}
inline void destroy(StackState& state) {
  __tsan_destroy_fiber(state.fiber);
}
inline void leave(StackState&, const StackState& to) {
  __tsan_switch_to_fiber(to.fiber, 0);
}
inline void arrive(const StackState&, StackState&) {}
inline void forget_memory(const void*, std::size_t) {}

#else

struct StackState {};
inline void create(StackState&, const void*, std::size_t) {}
inline void adopt_thread(StackState&) {}
inline void destroy(StackState&) {}
inline void leave(StackState&, const StackState&) {}
inline void arrive(const StackState&, StackState&) {}
inline void forget_memory(const void*, std::size_t) {}

#endif

}  // namespace farvec::coroutines::sanitizer
