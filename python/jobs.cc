#include "python/jobs.h"

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>

#include "python/others_may_run.h"

namespace farvec::python {
namespace {

namespace nb = nanobind;

constexpr std::chrono::milliseconds kSignalPeriod{100};

/// Returns what a signal's handler has raised; null: nothing.
std::unique_ptr<nb::python_error> raised_by_signal() {
  const Interpreter interpreter;
  if (!interpreter.held() || PyErr_CheckSignals() == 0) return nullptr;
  return std::make_unique<nb::python_error>();
}

}  // namespace

void run_job(const std::function<void(const Interruption& interrupted)>& work) {
  std::atomic<bool> stop{false};
  std::unique_ptr<nb::python_error> raised;
  std::future<void> done;
  {
    const OthersMayRun others_may_run;
    // Relaxed, since only the flag itself matters.
    done = std::async(std::launch::async,
                      [&] { work([&stop] { return stop.load(std::memory_order_relaxed); }); });
    while (done.wait_for(kSignalPeriod) == std::future_status::timeout) {
      if (raised == nullptr) raised = raised_by_signal();
      if (raised != nullptr || is_ending()) stop.store(true, std::memory_order_relaxed);
    }
  }
  try {
    done.get();
  } catch (...) {
    // What a signal's handler has raised comes before what the work threw meanwhile.
    if (raised == nullptr) throw;
  }
  if (raised != nullptr) throw nb::python_error(*raised);
}

}  // namespace farvec::python
