// An Engine runs the cores of a compute node while one index is open.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "compute_node/service/core_feed.h"
#include "compute_node/service/search_backend.h"

namespace farvec::compute_node {

struct EngineOptions {
  unsigned threads = 1;
  std::uint32_t queue = 1024;  ///< queries that may wait, over all cores
  bool pin = false;            ///< thread i to the i-th processor this process may run on
  /// How long the cores may take to connect and to register their memory, all at once.
  std::chrono::milliseconds ready_bound{30'000};
};

/// Runs one thread per core over a session that it owns. Every admitted task ends, whatever happens
/// to the session.
class Engine {
 public:
  Engine(std::unique_ptr<SearchSession> session, EngineOptions options, Replier& replier);
  ~Engine();

  /// Takes the batch and spreads its queries over the least loaded cores. When they do not all fit
  /// in the queue it returns resource_exhausted, and the batch stays with the caller. It may be
  /// called from any thread.
  Status submit(std::unique_ptr<Batch>& batch);

  /// Returns when every core can search. Throws the error that kept a core from it. Throws
  /// UnreachableError when options.ready_bound has passed, when the index was lost meanwhile, and
  /// soon after `stop` becomes true.
  void await_ready(const std::atomic<bool>& stop) const;

  /// Returns how long `queries` queries of `work` each would take from now to the last answer,
  /// after all queries that wait and run; 0 when nothing is known, or none would have to wait. It
  /// may be called from any thread.
  Ticks expected(std::uint32_t queries, WorkUnits work, Ticks now) const;

  /// Ends waiting queries whose deadline has passed.
  void expire(Ticks now);

  /// Ends waiting queries with `reason`; running ones end by themselves. Returns when no core runs.
  /// Idempotent; for one thread at a time.
  void stop(Status reason);

  /// False once the index is lost or a core has given up.
  bool healthy() const;

  bool superseded() const { return session_->superseded(); }
  /// Returns true when no query waits or runs. When no caller can submit any more, it stays true.
  bool idle() const;

  const ServedIndex& index() const { return session_->index(); }
  ServedIndex present() const { return session_->present(); }
  TierCounters& counters() const { return session_->counters(); }
  std::optional<search::ProbeTally> probes() const { return session_->probes(); }
  std::optional<search::ProbeTally> segment_probes(std::uint64_t segment) const {
    return session_->segment_probes(segment);
  }
  std::vector<tiers::NodeSet::Member> memory_nodes() const { return session_->memory_nodes(); }
  const EngineOptions& options() const { return options_; }
  std::uint32_t queued() const { return budget_.taken(); }
  std::uint32_t running() const;

 private:
  void run_core(unsigned core);
  bool all_asked() const;
  void note_failure(std::exception_ptr failure);
  void rethrow_failure() const;
  /// Returns the feed with the least load; among equal ones the first from number `first` on,
  /// modulo their number.
  CoreFeed& least_loaded(std::uint32_t first) const;

  std::unique_ptr<SearchSession> session_;
  const EngineOptions options_;
  AdmissionBudget budget_;
  std::vector<std::unique_ptr<CoreFeed>> feeds_;
  std::atomic<bool> broken_{false};
  mutable std::mutex failure_mutex_;
  std::exception_ptr failure_;  ///< that of the first core that could not begin
  std::atomic<std::uint32_t> turn_{0};
  std::vector<std::thread> threads_;
};

/// Returns an engine whose cores can all search. Throws what await_ready() throws, after all cores
/// have ended.
std::shared_ptr<Engine> start_engine(std::unique_ptr<SearchSession> session,
                                     const EngineOptions& options, Replier& replier,
                                     const std::atomic<bool>& stop);

}  // namespace farvec::compute_node
