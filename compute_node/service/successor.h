// A Successor opens the index that comes next, and starts its cores, while another one is served.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "compute_node/service/engine.h"

namespace farvec::compute_node {

/// RefusedSwitches count attempts to switch to a newer index that failed, by what failed. They are
/// atomic and relaxed, because each is a counter on its own.
struct RefusedSwitches {
  std::atomic<std::uint64_t> open{0};   ///< the index could not be opened
  std::atomic<std::uint64_t> cores{0};  ///< a core could not begin, or not in time

  std::uint64_t sum() const {
    return open.load(std::memory_order_relaxed) + cores.load(std::memory_order_relaxed);
  }
};

struct SuccessorOptions {
  EngineOptions engine;
  std::chrono::milliseconds first_back_off{50};
};

/// Makes one attempt at a time, on a thread of its own, with back-off between failed ones. Used by
/// one thread.
class Successor {
 public:
  /// All are borrowed, and the backend must not be opened otherwise meanwhile.
  Successor(SearchBackend& backend, Replier& replier, SuccessorOptions options,
            RefusedSwitches& refused)
      : backend_(backend),
        replier_(replier),
        options_(options),
        refused_(refused),
        back_off_(options.first_back_off) {}
  ~Successor();  ///< ends a running attempt
  Successor(const Successor&) = delete;
  Successor& operator=(const Successor&) = delete;

  /// To be called again and again: begins an attempt when one is `wanted`, and returns the engine
  /// that the last one has made; all of its cores can search. It does not block.
  std::shared_ptr<Engine> poll(bool wanted);

 private:
  void attempt();
  void refuse();

  SearchBackend& backend_;
  Replier& replier_;
  const SuccessorOptions options_;
  RefusedSwitches& refused_;
  std::chrono::milliseconds back_off_;
  std::chrono::steady_clock::time_point not_before_{};
  std::string last_error_;
  std::atomic<bool> stop_{false};
  // Until done_ is set, engine_, opened_ and error_ belong to the attempt's thread.
  std::shared_ptr<Engine> engine_;
  bool opened_ = false;  ///< and its cores were started
  std::string error_;
  std::atomic<bool> done_{false};
  std::thread thread_;
};

}  // namespace farvec::compute_node
