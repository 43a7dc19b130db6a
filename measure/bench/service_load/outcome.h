// Counts what became of the queries of a load.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

#include "base/latency_histogram.h"
#include "rpc/compute_node.grpc.pb.h"

namespace farvec::measure {

enum class Outcome : std::uint8_t {
  in_time,     ///< answered within the deadline
  late,        ///< answered later, or not at all before the deadline
  queue_full,  ///< refused
  too_late,    ///< refused: the node expected to answer after the deadline
  failed,      ///< everything else
  unsent,      ///< the client itself could not send it
};
inline constexpr std::size_t kOutcomes = 6;

struct LoadCounts {
  std::array<std::uint64_t, kOutcomes> queries{};
  LatencyHistogram latency;   ///< latencies of the queries answered in time
  double seconds = 0;         ///< for how long they were offered
  std::string first_failure;  ///< what the first failed one said

  std::uint64_t of(Outcome outcome) const { return queries[static_cast<std::size_t>(outcome)]; }
  std::uint64_t offered() const;
  std::uint64_t refused() const { return of(Outcome::queue_full) + of(Outcome::too_late); }
  /// Returns the answers in time per second.
  double goodput() const {
    return seconds > 0 ? static_cast<double>(of(Outcome::in_time)) / seconds : 0;
  }
};

/// Counts outcomes. It is thread-safe.
class LoadRecorder {
 public:
  /// Every query has the same deadline.
  explicit LoadRecorder(std::chrono::milliseconds deadline) : deadline_(deadline) {}

  /// Records that a call of one query has ended, `latency` after it was to be sent.
  Outcome ended(const grpc::Status& status, const grpc::ClientContext& context,
                const compute_node::v1::SearchResponse& response,
                std::chrono::steady_clock::duration latency);
  void unsent();
  LoadCounts counts() const;

 private:
  const std::chrono::milliseconds deadline_;
  mutable std::mutex mutex_;
  LoadCounts counts_;
};

}  // namespace farvec::measure
