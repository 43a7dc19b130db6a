// A ReadLoad is a steady load of random reads on an endpoint, for measurements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/latency_histogram.h"
#include "base/random.h"
#include "transport/endpoint.h"

namespace farvec::transport {

/// The small reads of a mix: 128 B, as in Figure 7 of the second-tier memory study.
inline constexpr std::uint32_t kSmallReadBytes = 128;
inline constexpr std::uint32_t kLoadAlignment = 64;

struct LoadShape {
  std::uint32_t payload_bytes = 256;
  std::uint32_t inflight = 16;  ///< reads outstanding
  std::uint32_t batch = 8;      ///< reads per post(); from 1 to inflight
  double small_share = 0;       ///< share of the reads that are kSmallReadBytes long instead
  /// Reads and their destinations begin at multiples of this, which is one of kLoadAlignment.
  std::uint32_t alignment = kLoadAlignment;
  /// The reads of one post() are followed by others only when all of them have come, as in a
  /// search. `inflight` is then a multiple of `batch`.
  bool together = false;
  /// The most reads that are outstanding when reads go together; 0: all in flight. Reads that wait
  /// are posted in whole batches, or in parts of a quarter of this, as in searches.
  std::uint32_t most_outstanding = 0;

  std::uint32_t outstanding() const { return most_outstanding > 0 ? most_outstanding : inflight; }
};

/// Throws Error naming what does not fit the endpoint or its region.
void check_load(const LoadShape& shape, const Endpoint& endpoint, RegionId region);

/// Returns the bytes of destinations that a load needs.
std::size_t destination_bytes(const LoadShape& shape);

struct LoadOptions {
  LoadShape shape;
  RegionId region = 0;
  /// At least destination_bytes(), registered with the endpoint, not used by other code during a
  /// run(), and valid for as long as the endpoint has reads.
  std::span<std::byte> destinations;
  std::uint64_t seed = 1;
  double patience_us = 10e6;  ///< longest time without any completion
};

struct LoadCounts {
  std::uint64_t reads = 0;
  std::uint64_t bytes = 0;
  Ticks elapsed = 0;
  /// Latency of each read, from its post() to the poll() that delivered it.
  LatencyHistogram latency;
};

/// Offsets are uniform over the whole region. One thread uses it, and it is the only user of its
/// endpoint during a run.
class ReadLoad {
 public:
  /// The endpoint must outlive the load. Throws what check_load() throws.
  ReadLoad(Endpoint& endpoint, const LoadOptions& options);

  /// Keeps `inflight` reads outstanding, posting `batch` whenever that many have completed. Counts
  /// from the moment when one full round has completed, for `duration_us` or until the first
  /// completion after that; then lets the outstanding reads finish, uncounted. Throws Error when a
  /// read fails or brings another number of bytes than asked for, and when nothing completes for
  /// `patience_us`; the endpoint then still owns destinations until it is closed.
  LoadCounts run(double duration_us);

 private:
  struct Slot {
    std::uint64_t offset = 0;
    std::uint32_t bytes = 0;
    bool outstanding = false;
    Ticks posted = 0;
  };

  void post_batches(std::size_t least);
  std::size_t postable() const;
  void free_all();
  ReadRequest draw(std::uint32_t slot);
  Ticks await(LoadCounts& counts);
  void take(const Completion& completion, Ticks now, LoadCounts& counts);
  void release(std::uint32_t slot);

  Endpoint& endpoint_;
  const LoadOptions options_;
  const std::uint64_t region_bytes_;
  const std::size_t slot_bytes_;
  const std::uint64_t small_below_;  ///< a draw of 32 bits below this makes a small read
  const Ticks patience_;
  Random random_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  /// Reads missing in each batch, when reads are followed together.
  std::vector<std::uint32_t> missing_;
  std::uint32_t outstanding_ = 0;
  std::vector<ReadRequest> batch_;
  std::vector<Completion> completions_;
};

}  // namespace farvec::transport
