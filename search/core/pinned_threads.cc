#include "search/core/pinned_threads.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include <exception>
#include <thread>
#include <vector>

namespace farvec::search {
namespace {

/// The first `count` processors on which this process may run; empty where they are not known.
std::vector<unsigned> first_processors(std::size_t count) {
  std::vector<unsigned> processors;
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return processors;
  for (unsigned cpu = 0; cpu < CPU_SETSIZE && processors.size() < count; ++cpu) {
    if (CPU_ISSET(cpu, &allowed)) processors.push_back(cpu);
  }
  return processors;
}

void pin_to_processor(std::size_t index) {
  const std::vector<unsigned> processors = first_processors(index + 1);
  if (processors.size() <= index) return;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(processors[index], &one);
  pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
}

using Body = std::function<void(std::size_t thread)>;

/// Runs the first `here` bodies (none or one) on the calling thread.
void run_each(std::size_t count, std::size_t here, const Body& body) {
  std::vector<std::exception_ptr> failures(count);
  const auto run = [&](std::size_t t) {
    try {
      body(t);
    } catch (...) {
      failures[t] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = here; t < count; ++t) threads.emplace_back(run, t);
    if (here > 0) run(0);
  }
  for (const auto& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace

void run_pinned(std::size_t count, const Body& body) {
  run_each(count, 0, [&](std::size_t t) {
    pin_to_processor(t);
    body(t);
  });
}

void run_unpinned(std::size_t count, const Body& body) {
  if (count > 0) run_each(count, 1, body);
}

std::string allowed_processors(std::size_t count) {
  std::string names;
  for (const unsigned processor : first_processors(count)) {
    names += fmt::format("{}{}", names.empty() ? "" : ",", processor);
  }
  return names;
}

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace farvec::search
