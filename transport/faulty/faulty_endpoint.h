// A FaultyEndpoint fails on demand, in the same way for the same seed, to test the code above it.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "base/random.h"
#include "transport/forwarding_endpoint.h"

namespace farvec::transport {

inline constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

/// Rates are probabilities per read in [0, 1]. Reads and posts count from 0 over the endpoint's
/// life. Time is counted in polls, so that runs repeat exactly.
struct FaultOptions {
  std::uint64_t seed = 1;
  double drop_rate = 0;   ///< never completes
  double short_rate = 0;  ///< completes ok with fewer bytes; the rest of the buffer is noise
  double flip_rate = 0;   ///< completes ok with one bit flipped
  double error_rate = 0;  ///< completes with `error`
  double delay_rate = 0;  ///< completes `delay_polls` polls later than it would
  std::uint32_t delay_polls = 100;
  double post_rate = 0;                 ///< probability per post() to fail with resource_exhausted
  std::uint64_t failing_read = kNever;  ///< this read completes with `error`
  std::uint64_t failing_post = kNever;  ///< this post() fails with resource_exhausted
  std::uint64_t dead_from_read = kNever;  ///< the peer dies when this read is posted
  StatusCode error = StatusCode::internal;
};

class FaultyEndpoint final : public ForwardingEndpoint {
 public:
  explicit FaultyEndpoint(std::unique_ptr<Endpoint> below, FaultOptions options = {});

  Status post(std::span<const ReadRequest> reads) override;
  std::size_t poll(std::span<Completion> completions) override;
  std::string description() const override { return "faulty(" + below().description() + ")"; }
  void peer_lost() override { kill(); }
  void close() override;

  /// Makes the peer go for good: outstanding reads end with `unavailable`, dropped ones too.
  void kill();

 private:
  enum class Fault : std::uint8_t { none, drop, shorten, flip, error };
  struct Slot {
    ReadRequest read;
    std::uint64_t not_before = 0;  ///< number of a poll
    std::uint64_t noise = 0;
    Completion arrived;
    Fault fault = Fault::none;
    bool used = false;
    bool has_arrived = false;
  };

  Status check(std::span<const ReadRequest> reads);
  Slot draw(const ReadRequest& read);
  Fault draw_fault();
  void fetch_from_below();
  Completion finish(Slot& slot);

  FaultOptions options_;
  Random random_;
  std::vector<Slot> slots_;
  std::vector<ReadRequest> forwarded_;  ///< scratch for post()
  std::vector<std::uint32_t> order_;    ///< slots in use, oldest post first
  std::uint64_t reads_ = 0;
  std::uint64_t posts_ = 0;
  std::uint64_t polls_ = 0;
  bool dead_ = false;
  bool closed_ = false;
};

}  // namespace farvec::transport
