#include "compute_node/collection/call_pool.h"

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <utility>

namespace farvec::compute_node {

struct CallPool::Threads {
  explicit Threads(unsigned count) : pool(count) {}
  ~Threads() { pool.join(); }

  boost::asio::thread_pool pool;
};

CallPool::CallPool(const CallPoolLimits& limits)
    : limits_(limits), threads_(std::make_unique<Threads>(limits.threads)) {}

CallPool::~CallPool() = default;

bool CallPool::submit(std::uint64_t bytes, std::function<Answer()> call) {
  if (!take(bytes)) return false;
  boost::asio::post(threads_->pool, [this, bytes, call = std::move(call)] { run(bytes, call); });
  return true;
}

bool CallPool::take(std::uint64_t bytes) {
  const std::uint32_t calls = calls_.fetch_add(1, std::memory_order_relaxed);
  const std::uint64_t before = bytes_.fetch_add(bytes, std::memory_order_relaxed);
  if (calls < limits_.calls && before + bytes <= limits_.bytes) return true;
  give_back(bytes);
  return false;
}

void CallPool::give_back(std::uint64_t bytes) {
  bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  calls_.fetch_sub(1, std::memory_order_relaxed);
}

void CallPool::run(std::uint64_t bytes, const std::function<Answer()>& call) {
  constexpr Ticks kWeight = 8;  // a call counts an eighth
  const Ticks began = now_ticks();
  const Answer answer = call();
  const Ticks took = now_ticks() - began;
  const Ticks mean = mean_.load(std::memory_order_relaxed);
  mean_.store(mean == 0 ? took : mean - mean / kWeight + took / kWeight, std::memory_order_relaxed);
  give_back(bytes);
  answer();
}

Ticks CallPool::expected_wait() const {
  return mean_.load(std::memory_order_relaxed) * calls() / limits_.threads;
}

}  // namespace farvec::compute_node
