// Cost of a fiber switch there and back, of suspend and wake, and of a wait group.
#include <benchmark/benchmark.h>

#include "coroutines/scheduler.h"
#include "coroutines/wait_group.h"

namespace farvec::coroutines {
namespace {

// Two fibers hand the core to each other: one iteration is there and back.
void switch_there_and_back(benchmark::State& state) {
  Scheduler scheduler;
  bool stop = false;
  (void)scheduler.spawn([&] {
    for ([[maybe_unused]] auto _ : state) scheduler.yield();
    stop = true;
  });
  (void)scheduler.spawn([&] {
    while (!stop) scheduler.yield();
  });
  scheduler.run();
}
BENCHMARK(switch_there_and_back);

// `range` fibers in turn, each with a working set on its stack: one iteration is one switch.
void switch_among(benchmark::State& state) {
  const auto fibers = static_cast<std::size_t>(state.range(0));
  Scheduler scheduler({.max_fibers = fibers});
  bool stop = false;
  const auto touch = [] {
    volatile char frame[512];
    for (std::size_t i = 0; i < sizeof frame; i += 64) frame[i] = 1;
  };
  (void)scheduler.spawn([&] {
    while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(fibers))) {
      touch();
      scheduler.yield();
    }
    stop = true;
  });
  for (std::size_t f = 1; f < fibers; ++f) {
    (void)scheduler.spawn([&] {
      while (!stop) {
        touch();
        scheduler.yield();
      }
    });
  }
  scheduler.run();
}
BENCHMARK(switch_among)->Arg(4)->Arg(16)->Arg(64)->Arg(256);

// A wait with a deadline that the other fiber ends: what one hop costs without its read.
void wait_group_round(benchmark::State& state) {
  Scheduler scheduler;
  WaitGroup group(scheduler);
  const Ticks deadline = now_ticks() + us_to_ticks(1e9);
  bool stop = false;
  (void)scheduler.spawn([&] {
    for ([[maybe_unused]] auto _ : state) {
      group.add();
      (void)group.wait(deadline);
    }
    stop = true;
  });
  (void)scheduler.spawn([&] {
    while (!stop) {
      if (group.pending() > 0) group.done();
      scheduler.yield();
    }
  });
  scheduler.run();
}
BENCHMARK(wait_group_round);

}  // namespace
}  // namespace farvec::coroutines
