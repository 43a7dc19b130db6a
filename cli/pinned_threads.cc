#include "cli/pinned_threads.h"

#include <pthread.h>
#include <sched.h>

#include <exception>
#include <thread>
#include <vector>

namespace farvec::cli {
namespace {

void pin_to_processor(unsigned index) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return;
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed) || index-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
    return;
  }
}

}  // namespace

void run_pinned(std::size_t count, const std::function<void(std::size_t thread)>& body) {
  std::vector<std::exception_ptr> failures(count);
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < count; ++t) {
      threads.emplace_back([&, t] {
        pin_to_processor(static_cast<unsigned>(t));
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

}  // namespace farvec::cli
