// The cores of a compute node while one index is open.
#pragma once

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "compute_node/service/core_feed.h"
#include "compute_node/service/search_backend.h"

namespace farvec::compute_node {

struct EngineOptions {
  unsigned threads = 1;
  std::uint32_t queue = 1024;  ///< queries that may wait, over all cores
  bool pin = false;            ///< thread i to the i-th processor this process may run on
};

/// Runs one thread per core over a session it owns. Every admitted task ends, whatever happens to
/// the session.
class Engine {
 public:
  Engine(std::unique_ptr<SearchSession> session, EngineOptions options, Replier& replier);
  ~Engine();

  /// Takes the batch and spreads its queries over the least loaded cores, or leaves it with the
  /// caller: resource_exhausted when they do not all fit in the queue. Any thread.
  Status submit(std::unique_ptr<Batch>& batch);

  /// Ends waiting queries whose deadline has passed.
  void expire(Ticks now);

  /// Waiting queries end with `reason`; running ones end by themselves. Returns when no core runs.
  /// Idempotent; one thread at a time.
  void stop(Status reason);

  /// False once the index is lost or a core has given up.
  bool healthy() const;

  bool superseded() const { return session_->superseded(); }
  /// Nothing waits and nothing runs. When nobody can submit any more, that is for good.
  bool idle() const;

  const ServedIndex& index() const { return session_->index(); }
  TierCounters& counters() const { return session_->counters(); }
  std::optional<ProbeTally> probes() const { return session_->probes(); }
  std::vector<MemoryNodeState> memory_nodes() const { return session_->memory_nodes(); }
  const EngineOptions& options() const { return options_; }
  std::uint32_t queued() const { return budget_.taken(); }
  std::uint32_t running() const;

 private:
  void run_core(unsigned core);
  CoreFeed& least_loaded();

  std::unique_ptr<SearchSession> session_;
  const EngineOptions options_;
  AdmissionBudget budget_;
  std::vector<std::unique_ptr<CoreFeed>> feeds_;
  std::atomic<bool> broken_{false};
  std::atomic<std::uint32_t> turn_{0};
  std::vector<std::thread> threads_;
};

}  // namespace farvec::compute_node
