// A Supervisor opens the index, watches it, opens it again when it was lost, and switches to a
// newer one.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "compute_node/service/successor.h"

namespace farvec::compute_node {

struct SupervisorOptions {
  EngineOptions engine;
  std::chrono::milliseconds attach_bound{30'000};  ///< for the first time only
  std::chrono::milliseconds first_back_off{50};    ///< doubles up to
  std::chrono::milliseconds last_back_off{1'000};
};

/// The first opening has a bound and can fail for good; after that the supervisor never gives up.
/// When the index is superseded, the newer one is opened beside it. Once all cores of the newer one
/// can search, it takes all later queries, while the older one ends those that it was given. At
/// most two are open.
class Supervisor {
 public:
  /// Backend and replier must outlive it.
  Supervisor(SearchBackend& backend, Replier& replier, SupervisorOptions options);
  ~Supervisor();  ///< stop()

  /// Returns the cores to submit to, or null while there is no index. It may be called from any
  /// thread.
  std::shared_ptr<Engine> engine() const;
  /// Returns how often the index was opened again.
  std::uint64_t reopened() const { return reopened_.load(std::memory_order_relaxed); }
  /// Returns how often a newer index took over.
  std::uint64_t switched() const { return switched_.load(std::memory_order_acquire); }
  /// Returns how often a newer index could not take over, and the older one stayed.
  const RefusedSwitches& refused() const { return refused_; }
  /// Returns the queries that wait or run, also those of an older index. It may be called from any
  /// thread.
  std::uint64_t unanswered() const;
  /// Names what it opens and, when that failed, says why: for refusals. It may be called from any
  /// thread.
  std::string waiting_for() const;
  /// Set when the first opening has failed for good; it is for the operator. It may be called from
  /// any thread.
  std::string failure() const;

  /// Ends waiting queries with UNAVAILABLE and joins every core. Idempotent.
  void stop();

 private:
  void run();
  std::shared_ptr<Engine> open_until_there();
  void serve(std::shared_ptr<Engine> engine);
  void take_over(const std::shared_ptr<Engine>& engine);
  /// From here on queries go to `engine`. Unless it is null, the former engine retires.
  void publish(std::shared_ptr<Engine> engine);
  /// Returns true while the older index has queries.
  bool is_retiring();
  void end_retired(Status reason);
  /// Returns false when stop() came first.
  bool wait_back_off();
  bool stopped_within(std::chrono::milliseconds time);
  void note(const std::string& why);
  void give_up(const std::string& why);

  SearchBackend& backend_;
  Replier& replier_;
  const SupervisorOptions options_;
  const std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  std::atomic<std::uint64_t> reopened_{0};
  std::atomic<std::uint64_t> switched_{0};
  RefusedSwitches refused_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::shared_ptr<Engine> engine_;
  std::shared_ptr<Engine> retired_;  ///< superseded, with queries to end
  std::string last_error_;
  std::string failure_;
  bool ever_open_ = false;
  std::chrono::milliseconds back_off_;  ///< until the next attempt, after a failed or a short one
  std::atomic<bool> stopping_{false};  ///< set under mutex_, for wake_; read without it by backends
  std::thread thread_;
};

}  // namespace farvec::compute_node
