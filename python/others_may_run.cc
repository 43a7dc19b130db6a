#include "python/others_may_run.h"

#include <cxxabi.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <thread>

namespace farvec::python {
namespace {

namespace nb = nanobind;

/// The end waits this long for searches, inserts and builds that are under way.
constexpr std::chrono::seconds kPatience{10};
constexpr std::chrono::milliseconds kLook{1};
/// Then it waits this long for threads that have the interpreter and are about to leave the module.
constexpr std::chrono::milliseconds kGrace{50};

// All of these are sequentially consistent: a thread that counts itself looks at `ending`
// afterwards, and the end sets it before it looks at the counts.
std::atomic<bool> ending{false};
std::atomic<int> working{0};      ///< threads without the interpreter
std::atomic<int> stopped{0};      ///< threads that sleep until the process ends
std::atomic<bool> others{false};  ///< a thread other than the first has worked
std::thread::id last;             ///< the thread that ends the interpreter; set before `ending`
std::terminate_handler former_terminate = nullptr;
const std::thread::id first = std::this_thread::get_id();

[[noreturn]] void sleep_for_good() {
  stopped.fetch_add(1);
  for (;;) pause();
}

/// Takes the interpreter. A daemon thread is ended by an exception of the C library's that must not
/// be swallowed; it is not swallowed here, since the thread never goes on.
template <typename Take>
void take_interpreter(const Take& take) {
  try {
    take();
  } catch (const abi::__forced_unwind&) {
    sleep_for_good();
  }
}

/// Runs where the interpreter has ended a daemon thread amid frames that no unwinding passes.
[[noreturn]] void terminate() {
  if (is_ending()) sleep_for_good();
  if (former_terminate != nullptr) former_terminate();
  std::abort();
}

/// Ends the process at once if other threads live. They may use globals, which are destroyed when
/// the process ends.
void end_at_once(int status, void*) {
  if (working.load() + stopped.load() == 0) return;
  std::fflush(nullptr);
  _exit(status);
}

void wait_for_others() {
  last = std::this_thread::get_id();
  ending.store(true);
  if (!others.load()) return;
  former_terminate = std::set_terminate(terminate);
  on_exit(end_at_once, nullptr);
  nb::set_leak_warnings(false);  // sleeping threads hold objects
  const nb::gil_scoped_release others_may_run;
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (working.load() > 0 && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(kLook);
  }
  std::this_thread::sleep_for(kGrace);
}

}  // namespace

OthersMayRun::OthersMayRun() : thread_(PyEval_SaveThread()) {
  if (std::this_thread::get_id() != first) others.store(true);
  working.fetch_add(1);
  if (!is_ending()) return;
  working.fetch_sub(1);
  sleep_for_good();
}

OthersMayRun::~OthersMayRun() {
  working.fetch_sub(1);
  if (is_ending()) sleep_for_good();
  take_interpreter([this] { PyEval_RestoreThread(thread_); });
}

Interpreter::Interpreter() {
  if (is_ending()) return;
  take_interpreter([this] { state_ = PyGILState_Ensure(); });
  held_ = true;
}

Interpreter::~Interpreter() {
  if (held_) PyGILState_Release(state_);
}

bool is_ending() {
  return ending.load() && std::this_thread::get_id() != last;
}

void watch_for_the_end(nb::module_& module) {
  // A child has none of the threads that were counted.
  pthread_atfork(nullptr, nullptr, [] {
    working.store(0);
    stopped.store(0);
    others.store(false);
  });
  module.def("_wait_for_others", &wait_for_others, nb::sig("def _wait_for_others() -> None"));
  nb::module_::import_("atexit").attr("register")(module.attr("_wait_for_others"));
}

}  // namespace farvec::python
