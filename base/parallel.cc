#include "base/parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace farvec {

unsigned resolve_threads(unsigned requested) {
  if (requested > 0) return requested;
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return static_cast<unsigned>(CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

void parallel_for(
    std::size_t count, std::size_t chunk, unsigned threads,
    const std::function<void(std::size_t begin, std::size_t end, unsigned worker)>& body) {
  chunk = std::max<std::size_t>(chunk, 1);
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  auto work = [&](unsigned worker) {
    for (;;) {
      // relaxed: the chunks are independent; joining the threads orders their results.
      const std::size_t begin = next.fetch_add(chunk, std::memory_order_relaxed);
      if (begin >= count) return;
      try {
        body(begin, std::min(begin + chunk, count), worker);
      } catch (...) {
        std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
        next.store(count, std::memory_order_relaxed);
        return;
      }
    }
  };
  const std::size_t chunks = (count + chunk - 1) / chunk;
  const auto workers = static_cast<unsigned>(std::min<std::size_t>(std::max(threads, 1u), chunks));
  {
    std::vector<std::jthread> pool;
    for (unsigned w = 1; w < workers; ++w) pool.emplace_back(work, w);
    if (chunks > 0) work(0);
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace farvec
