// A CallPool runs calls that block on threads of its own, so that gRPC's threads never block.
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
  std::uint64_t bytes = ~std::uint64_t{0};  ///< sum of these calls
};

/// Has a fixed number of threads, which take calls in the order in which they came, and bounds how
/// many calls there are. Any thread may call everything.
class CallPool {
 public:
  explicit CallPool(const CallPoolLimits& limits);
  ~CallPool();  ///< runs what was taken
  CallPool(const CallPool&) = delete;
  CallPool& operator=(const CallPool&) = delete;

  /// Answers a call. It runs when the call's place is free again, since a caller that is answered
  /// may come back at once.
  using Answer = std::function<void()>;

  /// Takes a call, to run it later. Returns false, and does nothing, when a bound is reached.
  /// Neither `call` nor its answer may throw.
  bool submit(std::uint64_t bytes, std::function<Answer()> call);

  std::uint32_t calls() const { return calls_.load(std::memory_order_relaxed); }
  std::uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  /// Estimates how long a call that comes now would wait for its turn, from what calls took lately.
  Ticks expected_wait() const;

 private:
  struct Threads;

  bool take(std::uint64_t bytes);
  void give_back(std::uint64_t bytes);
  void run(std::uint64_t bytes, const std::function<Answer()>& call);

  const CallPoolLimits limits_;
  // All three are relaxed: they are bounds and estimates, which order nothing.
  std::atomic<std::uint32_t> calls_{0};
  std::atomic<std::uint64_t> bytes_{0};
  std::atomic<Ticks> mean_{0};        ///< time of a call; later calls weigh more
  std::unique_ptr<Threads> threads_;  ///< is the last member: its end runs calls
};

}  // namespace farvec::compute_node
