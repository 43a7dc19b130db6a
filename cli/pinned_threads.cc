#include "cli/pinned_threads.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include <exception>
#include <thread>
#include <vector>

namespace farvec::cli {
namespace {

/// The first `count` that this process may run on; none where that is not known.
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

}  // namespace

void run_pinned(std::size_t count, const std::function<void(std::size_t thread)>& body) {
  std::vector<std::exception_ptr> failures(count);
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < count; ++t) {
      threads.emplace_back([&, t] {
        pin_to_processor(t);
        try {
          body(t);
        } catch (...) {
          failures[t] = std::current_exception();
        }
      });
    }
  }
  for (const auto& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
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

}  // namespace farvec::cli
