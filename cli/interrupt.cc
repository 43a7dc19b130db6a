#include "cli/interrupt.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <thread>

#include "base/error.h"

namespace farvec::cli {
namespace {

// Every access is relaxed: only the flag itself matters. It is lock-free; otherwise a handler could
// not write it.
std::atomic<bool> caught{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void catch_signal(int) {
  caught.store(true, std::memory_order_relaxed);
}

void catch_once(int signal, struct sigaction& before) {
  struct sigaction action {};
  action.sa_handler = catch_signal;
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  if (sigaction(signal, &action, &before) != 0) throw SystemError(errno, "catching a signal");
}

}  // namespace

InterruptGuard::InterruptGuard() : before_int_{}, before_term_{} {
  caught.store(false, std::memory_order_relaxed);
  catch_once(SIGINT, before_int_);
  catch_once(SIGTERM, before_term_);
}

InterruptGuard::~InterruptGuard() {
  sigaction(SIGINT, &before_int_, nullptr);
  sigaction(SIGTERM, &before_term_, nullptr);
}

bool interrupted() {
  return caught.load(std::memory_order_relaxed);
}

bool sleep_until(Ticks time) {
  constexpr auto kLook = std::chrono::milliseconds(5);
  while (now_ticks() < time && !interrupted()) std::this_thread::sleep_for(kLook);
  return !interrupted();
}

}  // namespace farvec::cli
