// A RecallSampler repeats a few of a node's searches exactly, to know what recall the node gives.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/random.h"
#include "compute_node/service/engine.h"
#include "compute_node/service/recall_statistics.h"
#include "compute_node/service/supervisor.h"

namespace farvec::compute_node {

struct RecallOptions {
  double share = 0;  ///< share of the searches that are repeated; 0: none
  /// Rows that exact searches compare in a second, on average.
  std::uint32_t rows_per_second = 100'000;
  double goal = 0;  ///< a lower recall of the recent searches is told in the log; 0: never
};

/// A thread of its own takes one search at a time. It waits until no query waits for a slot and the
/// budget of rows allows it, and then has the cores search twice: as the caller asked, and exactly.
/// Rows may change between the two, which take milliseconds. While it works, further searches that
/// are drawn are skipped, and counted.
class RecallSampler {
 public:
  /// The supervisor must outlive it.
  RecallSampler(const Supervisor& supervisor, const RecallOptions& options);
  ~RecallSampler();  ///< stop()

  /// Draws some of the batch's searches that ended well. Copies what it needs. Does not wait.
  void offer(Batch& batch);

  const RecallOptions& options() const { return options_; }
  RecallSnapshot snapshot() const { return statistics_.snapshot(); }

  /// Gives up what it waits for. Idempotent; for one thread at a time.
  void stop();

 private:
  /// A search to repeat.
  struct Sample {
    std::vector<std::byte> query;  ///< in stored form
    BatchShape shape;
  };
  /// What came of one of the two searches.
  struct Outcome;

  void run();
  std::optional<Sample> take();
  bool stopped_within(std::chrono::milliseconds time);
  std::shared_ptr<Engine> quiet_engine();
  bool repeat(const Sample& sample);
  std::shared_ptr<Outcome> search(Engine& engine, const Sample& sample, bool exact);
  void spend(std::uint64_t rows);
  void warn_below_goal();

  const Supervisor& supervisor_;
  const RecallOptions options_;
  RecallStatistics statistics_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Random random_;
  std::optional<Sample> next_;
  bool busy_ = false;  ///< the thread has a sample
  bool stopping_ = false;
  std::chrono::steady_clock::time_point affordable_;  ///< when the budget allows the next
  std::chrono::steady_clock::time_point warned_;
  std::thread thread_;
};

}  // namespace farvec::compute_node
