// Threads for calls that block, so that gRPC's own never do.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "base/clock.h"

namespace farvec::compute_node {

struct CallPoolLimits {
  unsigned threads = 1;
  std::uint32_t calls = 1;                  ///< under way or waiting
  std::uint64_t bytes = ~std::uint64_t{0};  ///< of them
};

/// A fixed number of threads, which take calls in the order in which they came, and a bound on
/// them. Any thread may call everything.
class CallPool {
 public:
  explicit CallPool(const CallPoolLimits& limits);
  ~CallPool();  ///< runs what was taken
  CallPool(const CallPool&) = delete;
  CallPool& operator=(const CallPool&) = delete;

  /// What a call ends with: run when its place is free again, as whoever is answered may come back
  /// at once.
  using Answer = std::function<void()>;

  /// False, and nothing happens, when a bound is reached. Neither `call` nor its answer may throw.
  bool submit(std::uint64_t bytes, std::function<Answer()> call);

  std::uint32_t calls() const { return calls_.load(std::memory_order_relaxed); }
  std::uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  /// How long a call that comes now would wait for its turn, by what calls took lately.
  Ticks expected_wait() const;

 private:
  struct Threads;

  bool take(std::uint64_t bytes);
  void give_back(std::uint64_t bytes);
  void run(std::uint64_t bytes, const std::function<Answer()>& call);

  const CallPoolLimits limits_;
  // Relaxed, all three: bounds and estimates, which order nothing.
  std::atomic<std::uint32_t> calls_{0};
  std::atomic<std::uint64_t> bytes_{0};
  std::atomic<Ticks> mean_{0};        ///< of a call, of the last ones more
  std::unique_ptr<Threads> threads_;  ///< last: its end runs calls
};

}  // namespace farvec::compute_node
