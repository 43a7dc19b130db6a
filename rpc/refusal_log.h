// A RefusalLog says who was refused, and why, in a bounded number of lines.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace farvec::rpc {

struct Refusal {
  std::string peer;  ///< "10.0.0.1:4711", "[::1]:4711"
  std::string reason;
  std::string subject;  ///< subject of the certificate that was shown; may be empty
};

/// Gives one line for each host and reason in ten seconds; the next line counts what was left out
/// in between. Keeps at most 1024 pairs of host and reason, and treats all further pairs as one.
/// Thread-safe.
class RefusalLog {
 public:
  using Clock = std::chrono::steady_clock;

  /// Returns the line to log now; empty when this refusal is left out.
  std::string line(const Refusal& refusal, Clock::time_point now);

 private:
  using Key = std::pair<std::string, std::string>;
  struct Entry {
    Clock::time_point next{};
    std::uint64_t left_out = 0;
  };

  Entry& entry_of(const Refusal& refusal, Clock::time_point now);

  std::mutex mutex_;
  std::map<Key, Entry> entries_;
};

}  // namespace farvec::rpc
