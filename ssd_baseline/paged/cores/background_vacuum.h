// A BackgroundVacuum removes deleted vertices while its callers come and go.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/progress.h"
#include "base/status.h"
#include "ssd_baseline/paged/cores/hnsw_crew.h"

namespace farvec::paged {

struct VacuumState {
  bool runs = false;
  std::uint64_t removed = 0;  ///< vertices, by all vacuums since it was made
  std::string failure;        ///< why the last vacuum failed; empty: it did not
};

/// Cores that serve the crew's queue do the work. Any thread may call everything.
class BackgroundVacuum {
 public:
  /// Borrows the graph.
  BackgroundVacuum(PagedHnsw& hnsw, const HnswCrewOptions& crew) : hnsw_(hnsw), crew_(crew) {}
  ~BackgroundVacuum();  ///< ends the vacuum that runs between two pages, and waits for that
  BackgroundVacuum(const BackgroundVacuum&) = delete;
  BackgroundVacuum& operator=(const BackgroundVacuum&) = delete;

  /// Starts a vacuum, or joins the one that runs, and waits until it has ended: until no vertex is
  /// marked. Returns false when `give_up` ended the wait; the vacuum goes on. Throws StatusError
  /// with the reason when the vacuum failed.
  bool run(const Interruption& give_up);

  VacuumState state() const;
  /// Ends the vacuum that runs, between two pages. Later ones end at once. It does not wait.
  void stop() { stopping_.store(true, std::memory_order_relaxed); }

 private:
  void work();

  PagedHnsw& hnsw_;
  const HnswCrewOptions crew_;
  std::atomic<bool> stopping_{false};  ///< relaxed: a flag that orders nothing
  mutable std::mutex mutex_;
  std::condition_variable ended_;
  std::thread worker_;  ///< started under the mutex when none runs
  VacuumState state_;
  StatusCode code_ = StatusCode::ok;  ///< the failure's
};

}  // namespace farvec::paged
