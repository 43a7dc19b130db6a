// A VerbsWriter does one-sided writes over a reliable RDMA connection, to load a node's memory.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>

#include "base/memory.h"
#include "base/status.h"
#include "transport/region_writer.h"
#include "transport/verbs/client_connection.h"

namespace farvec::transport {

struct VerbsWriterOptions {
  VerbsPeer peer;  ///< has a lease for writing
  /// Longer writes are posted in pieces. Reduced to what the device has.
  std::uint32_t piece_bytes = 256 * 1024;
  /// Pieces on their way; each has a place of piece_bytes in this process.
  std::uint32_t max_outstanding = 16;
  /// A piece of at most this many bytes travels in its work request, where the device has the room.
  std::uint32_t inline_bytes = 64;
  std::chrono::milliseconds timeout{10'000};  ///< limit for one write() or flush()
};

/// It is the only writer of its node while it is connected.
class VerbsWriter final : public RegionWriter {
 public:
  /// Connects, and waits for the grant. Throws Error naming the peer when it cannot be reached,
  /// takes no writers, has one already, or does not know the lease.
  explicit VerbsWriter(VerbsWriterOptions options);

  /// Returns deadline_exceeded after the timeout.
  Status write(RegionId region, std::uint64_t offset, std::span<const std::byte> bytes) override;

  /// Reads back the end of the last write, after all writes of the queue pair. data_loss when it is
  /// something else.
  Status flush() override;

  std::uint64_t region_bytes(RegionId region) const override {
    return connection_.region_bytes(region);
  }
  const Status& status() const override { return connection_.status(); }
  std::uint32_t path_mtu_bytes() const { return connection_.path_mtu_bytes(); }
  std::uint32_t inline_bytes() const { return connection_.inline_bytes(); }
  const DeviceEventCounts& device_events() const { return connection_.device_events(); }

 private:
  using Deadline = std::chrono::steady_clock::time_point;
  /// Bytes that a flush reads: the end of the last write.
  static constexpr std::uint32_t kEchoBytes = 8;
  struct Tail {
    std::uint64_t address = 0;
    std::uint32_t key = 0;
    std::uint32_t bytes = 0;
    std::byte content[kEchoBytes] = {};
  };

  std::byte* place_of(std::uint64_t request);
  Status post_piece(std::uint64_t address, std::uint32_t key, std::span<const std::byte> piece);
  Status post(ibv_send_wr& request);
  Status await(std::uint64_t request, Deadline end);
  void take_completions();

  const VerbsWriterOptions options_;
  HugeBuffer staging_;  ///< max_outstanding pieces, and the echo after them
  ClientConnection connection_;
  const std::uint32_t piece_bytes_;
  const std::uint32_t max_outstanding_;
  std::uint32_t staging_key_ = 0;
  Tail tail_;
  std::uint64_t posted_ = 0;   ///< sequence numbers are the requests' wr_id, from 1
  std::uint64_t done_ = 0;     ///< all through this one have completed
  std::uint64_t flushed_ = 0;  ///< all through this one are in the node's memory
};

}  // namespace farvec::transport
