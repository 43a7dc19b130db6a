// A Fiber is one fiber: its stack, its saved context and its place in the scheduler's lists.
#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "base/clock.h"
#include "coroutines/sanitizer.h"

namespace farvec::coroutines {

class Scheduler;

/// It is opaque outside this room. A Fiber object is a slot that later fibers use again, so a
/// pointer to it stays valid as long as its scheduler, and a late wake() is at worst spurious.
///
/// It uses Boost.Context's fcontext and not its fiber class. That class ends a context by unwinding
/// its stack from outside, in calls that the sanitizers cannot be told about. Here a context never
/// ends: its stack is unmapped while it waits for another entry function.
class Fiber {
 public:
  Fiber() = default;
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

 private:
  friend class Scheduler;
  enum class State : std::uint8_t { unused, ready, running, suspended };

  /// An ExceptionState is the Itanium C++ ABI's per-thread list of caught exceptions
  /// (__cxa_eh_globals). Each fiber has its own copy, exchanged at a switch, so that a fiber may
  /// suspend inside a catch block.
  struct ExceptionState {
    void* caught = nullptr;
    unsigned int uncaught = 0;
  };

  boost::context::detail::fcontext_t context_ = nullptr;
  Fiber* next_ = nullptr;  ///< link in the ready queue or in the list of unused slots
  Scheduler* scheduler_ = nullptr;
  Ticks deadline_ = 0;
  ExceptionState exceptions_;
  State state_ = State::unused;
  bool woken_ = false;  ///< a wake() that no suspension has used up yet
  bool timed_out_ = false;
  [[no_unique_address]] sanitizer::StackState stack_state_;
  std::function<void()> entry_;
};

}  // namespace farvec::coroutines
