// Work without the interpreter, also beside its end.
#pragma once

#include <nanobind/nanobind.h>

namespace farvec::python {

/// While one lives, its thread works without the interpreter, which others have; as
/// nanobind::gil_scoped_release, and safe where the interpreter ends meanwhile. A daemon thread
/// that wants the interpreter back then is ended by it with an unwinding that no C++ frame
/// outlives: here it sleeps instead, until the process ends.
class OthersMayRun {
 public:
  OthersMayRun();
  ~OthersMayRun();
  OthersMayRun(const OthersMayRun&) = delete;
  OthersMayRun& operator=(const OthersMayRun&) = delete;

 private:
  PyThreadState* const thread_;
};

/// The interpreter, in the midst of OthersMayRun. Not where the interpreter is about to end: see
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

/// Whether the interpreter is about to end and this thread is not the one that ends it: what it
/// works at is to end soon.
bool is_ending();

/// When the interpreter is about to end it waits for what other threads are at, for some seconds at
/// most, and keeps them from beginning anything new.
void watch_for_the_end(nanobind::module_& module);

}  // namespace farvec::python
