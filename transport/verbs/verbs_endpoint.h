// A VerbsEndpoint does one-sided reads over a reliable RDMA connection.
#pragma once

#include <string>
#include <vector>

#include "transport/endpoint.h"
#include "transport/ring.h"
#include "transport/verbs/client_connection.h"
#include "transport/verbs/tuning.h"

namespace farvec::transport {

struct VerbsOptions {
  VerbsPeer peer;
  /// Work requests in flight; reduced to what the device has.
  std::uint32_t max_outstanding = 256;
  /// A longer read is posted in pieces. 0: the device's own limit.
  std::uint32_t piece_bytes = 0;
  VerbsTuning tuning;
};

/// Has its own queue pair and completion queue. A hop's reads are one chain with one doorbell, and
/// only the last asks for a completion: reads of one queue pair finish in order. After any failed
/// read the queue pair is drained through its error state and stays closed; the owner of the
/// endpoint makes a new one.
class VerbsEndpoint final : public Endpoint {
 public:
  /// Connects, and waits for the grant of the node's regions. Throws Error naming the peer when it
  /// cannot be reached, speaks another version, or refuses the lease.
  explicit VerbsEndpoint(VerbsOptions options);
  ~VerbsEndpoint() override;

  void register_memory(std::span<std::byte> memory) override;
  Status post(std::span<const ReadRequest> reads) override;
  std::size_t poll(std::span<Completion> completions) override;
  EndpointLimits limits() const override;
  std::uint64_t region_bytes(RegionId region) const override;
  std::string description() const override;
  void peer_lost() override;
  void close() override;

  const DeviceLimits& device() const { return connection_.device(); }
  /// Returns the path MTU of the connection: the smaller of both ports'.
  std::uint32_t path_mtu_bytes() const { return connection_.path_mtu_bytes(); }
  /// Returns the events of the device since the endpoint was made.
  const DeviceEventCounts& device_events() const { return connection_.device_events(); }

 private:
  struct Flight {
    std::uint64_t token = 0;
    std::uint64_t last_request = 0;  ///< sequence number of the read's last work request
    std::uint32_t bytes = 0;
  };

  std::uint32_t pieces_of(std::uint32_t bytes) const;
  Status prepare(std::span<const ReadRequest> reads);
  Status ring_doorbell();
  void on_work_completion(const ibv_wc& completion);
  void finish_through(std::uint64_t request, StatusCode status);

  const VerbsOptions options_;
  ClientConnection connection_;
  const std::uint32_t max_outstanding_;
  const std::uint32_t piece_bytes_;
  std::vector<ibv_send_wr> chain_;  ///< the chain of one post()
  std::vector<ibv_sge> pieces_;
  std::size_t pieces_used_ = 0;  ///< used elements of chain_ and pieces_
  Ring<Flight> flights_;
  Ring<Completion> finished_;
  std::uint64_t next_request_ = 1;  ///< sequence numbers are the requests' wr_id
  std::uint64_t done_request_ = 0;
  bool failed_request_ = false;  ///< a request has failed: those after it are flushed
  bool closed_ = false;
};

}  // namespace farvec::transport
