// These types let a thread work without the interpreter, also while the interpreter ends.
#pragma once

#include <nanobind/nanobind.h>

namespace farvec::python {

/// While one lives, its thread works without the interpreter, which other threads may have. This is
/// nanobind::gil_scoped_release, but safe where the interpreter ends meanwhile. The interpreter
/// then ends a daemon thread that wants it back, with an unwinding that no C++ frame outlives: here
/// the thread sleeps instead, until the process ends.
class OthersMayRun {
 public:
  OthersMayRun();
  ~OthersMayRun();
  OthersMayRun(const OthersMayRun&) = delete;
  OthersMayRun& operator=(const OthersMayRun&) = delete;

 private:
  PyThreadState* const thread_;
};

/// Takes the interpreter while an OthersMayRun lives. It is not taken when it is about to end: see
/// held().
class Interpreter {
 public:
  Interpreter();
  ~Interpreter();
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  bool held() const { return held_; }

 private:
  bool held_ = false;
  PyGILState_STATE state_{};
};

/// Returns whether the interpreter is about to end and this thread is not the one that ends it:
/// then this thread's work is to end soon.
bool is_ending();

/// Makes the interpreter, when it is about to end, wait for the work of other threads, for some
/// seconds at most, and keeps these from beginning anything new.
void watch_for_the_end(nanobind::module_& module);

}  // namespace farvec::python
