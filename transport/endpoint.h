// An Endpoint does one-sided reads on named regions. It is the interface below every tier.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/status.h"

namespace farvec::transport {

using RegionId = std::uint32_t;

/// The distance between the tokens of reads that must complete one by one.
inline constexpr std::uint64_t kTokensApart = 2;

/// A ReadRequest is a read of [offset, offset + bytes) of a region into `destination`. The
/// destination belongs to the endpoint from post() until its completion has been polled (or close()
/// has returned), even when the caller has given up waiting (docs/understand/buffers.md). A read of
/// 0 bytes is allowed and completes. Aligned so that no request in an array crosses a cache line.
struct alignas(32) ReadRequest {
  std::uint64_t token = 0;  ///< the caller's; comes back in the completion
  RegionId region = 0;
  std::uint32_t bytes = 0;
  std::uint64_t offset = 0;
  std::byte* destination = nullptr;
};

/// Completes one read, or several of one post() whose tokens ascend by one from `token`: an
/// endpoint may say with one completion that all of them are over. A caller that wants one
/// completion for each read uses tokens that are multiples of kTokensApart.
struct Completion {
  /// The value of `bytes` for several reads, each of which has brought what was asked for.
  static constexpr std::uint32_t kAsAsked = ~std::uint32_t{0};

  std::uint64_t token = 0;
  StatusCode status = StatusCode::ok;
  std::uint32_t bytes = 0;  ///< bytes that arrived; a caller checks them against what it asked for
  std::uint32_t reads = 1;
  /// Where the bytes are when they are not at the destination: the first byte of the whole region,
  /// which the caller may read until the endpoint is closed.
  const std::byte* region = nullptr;
};

struct EndpointLimits {
  std::uint32_t max_outstanding = 0;  ///< reads posted and not yet polled
  std::uint32_t max_read_bytes = 0;
};

/// An EndpointUse says what memory an endpoint has, and what it has asked of its device, which may
/// be more than what was asked of it.
struct EndpointUse {
  std::size_t dram_bytes = 0;
  std::uint64_t device_reads = 0;
  std::uint64_t device_bytes = 0;
};

/// One thread uses it. It knows no fibers. Destroying it closes it.
class Endpoint {
 public:
  Endpoint() = default;
  virtual ~Endpoint() = default;
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  /// Makes memory known as a place for reads; it must outlive the endpoint's reads. Devices pin it
  /// and refuse destinations they do not know, mappings take any. For set-up: it may take
  /// milliseconds. Throws SystemError.
  virtual void register_memory(std::span<std::byte> /*memory*/) {}

  /// Starts all reads with one doorbell, or none: resource_exhausted when they do not fit
  /// max_outstanding, invalid_argument when one is outside its region or too long, unavailable when
  /// the peer is gone or the endpoint closed.
  virtual Status post(std::span<const ReadRequest> reads) = 0;

  /// Takes out up to completions.size() finished reads, in any order; never blocks. Returns the
  /// number of completions, each of which may be for several reads. After the peer has died every
  /// outstanding read completes with `unavailable`.
  virtual std::size_t poll(std::span<Completion> completions) = 0;

  virtual EndpointLimits limits() const = 0;

  /// Returns the bytes of a region; 0 when there is no such region.
  virtual std::uint64_t region_bytes(RegionId region) const = 0;

  /// Returns zeros where reads go to the device unchanged and need no memory of the endpoint.
  virtual EndpointUse use() const { return {}; }

  /// Returns the name of the tier for reports: "shm", "emulated(rdma: 2.8 us, 25 GB/s, ...)".
  virtual std::string description() const = 0;

  /// Returns the share of the first region's bytes that could still be delivered when a read last
  /// ended, or was not taken, with `unavailable`; 1 before that.
  virtual double coverage() const { return 1; }

  /// Called by other code that watches the peer, when it is lost (for example a lease): what is
  /// outstanding completes with `unavailable`, even where the device would never say so, and post()
  /// refuses. Does nothing where every read completes by itself.
  virtual void peer_lost() {}

  /// Ends every outstanding read (their completions are not delivered) and gives all destinations
  /// back. Idempotent.
  virtual void close() = 0;
};

/// Every endpoint makes these checks before it starts a read of a region of `region_bytes` bytes (0
/// when there is no such region).
inline Status check_read(const ReadRequest& read, std::uint64_t region_bytes,
                         const EndpointLimits& limits) {
  if (region_bytes == 0) return {StatusCode::invalid_argument, "no such region"};
  if (read.bytes > limits.max_read_bytes) {
    return {StatusCode::invalid_argument, "the read is longer than the endpoint allows"};
  }
  if (read.offset > region_bytes || read.bytes > region_bytes - read.offset) {
    return {StatusCode::invalid_argument, "the read is outside its region"};
  }
  if (read.destination == nullptr && read.bytes > 0) {
    return {StatusCode::invalid_argument, "the read has no destination"};
  }
  return {};
}

}  // namespace farvec::transport
