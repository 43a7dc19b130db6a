// A FabricEndpoint does one-sided reads through libfabric: TCP on any machine, and the networks of
// machines that have them.
#pragma once

#include <rdma/fabric.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "transport/endpoint.h"
#include "transport/fabric/grant.h"
#include "transport/fabric/port.h"
#include "transport/grant.h"
#include "transport/registered_memory.h"
#include "transport/ring.h"

namespace farvec::transport {

struct FabricOptions {
  std::string provider;  ///< "tcp", "verbs;ofi_rxm", "shm", "efa", ...; the same as the node's
  std::string grant;     ///< the bytes that the node's control plane sent
  GrantLease lease{};
  std::string peer = "the memory node";  ///< name for messages
  std::uint32_t max_outstanding = 256;   ///< reads; the provider's queue bounds requests
  /// A longer read is posted in pieces. 0: the provider's own limit.
  std::uint32_t piece_bytes = 0;
  std::chrono::milliseconds connect_timeout{5000};
  /// How long the provider may take no request while none is on its way: it is then reconnecting to
  /// a peer that has gone.
  std::chrono::milliseconds stall_timeout{1000};
};

/// Its own domain, endpoint and completion queue. After any failed read the libfabric endpoint is
/// closed, and what was outstanding completes with `unavailable`; the owner of this object makes a
/// new one. Where the provider keeps completions in order, only the last request of a batch asks
/// for one.
class FabricEndpoint final : public Endpoint {
 public:
  /// Connects, and reads the node's welcome. Throws Error naming the peer when the grant is not
  /// one, names another provider or protocol, or the node cannot be reached, is not a farvec node,
  /// or refuses.
  explicit FabricEndpoint(FabricOptions options);
  ~FabricEndpoint() override;

  void register_memory(std::span<std::byte> memory) override;
  Status post(std::span<const ReadRequest> reads) override;
  std::size_t poll(std::span<Completion> completions) override;
  EndpointLimits limits() const override;
  std::uint64_t region_bytes(RegionId region) const override;
  std::string description() const override;
  void peer_lost() override;
  void close() override;

  /// Says whether only the last request of a batch asks for a completion.
  bool selective() const { return in_order_; }

 private:
  /// A Flight is a read, until its last piece has arrived.
  struct Flight {
    std::uint64_t token = 0;
    std::uint64_t address = 0;  ///< address of the next piece, in the node's terms
    std::uint64_t key = 0;
    std::byte* destination = nullptr;  ///< destination of the next piece
    void* descriptor = nullptr;        ///< from the destination's registration
    std::uint32_t bytes = 0;
    std::uint32_t to_start = 0;  ///< bytes that have not been started
    std::uint32_t pieces_out = 0;
    bool used = false;
  };
  /// A Request is a piece on its way. libfabric keeps notes in `context` and gives its address
  /// back.
  struct Request {
    fi_context2 context{};
    std::uint32_t flight = 0;
  };

  static constexpr std::uint32_t kNoFlight = ~std::uint32_t{0};
  static constexpr std::uint32_t kMaxReadBytes = 1u << 30;
  /// Bounds the memory for requests where a provider's queue is large.
  static constexpr std::size_t kMaxRequests = 1024;

  void open();
  void connect(std::chrono::steady_clock::time_point end);
  Status check_all(std::span<const ReadRequest> reads) const;
  void take_off(const ReadRequest& read, const FabricGrantRegion& region);
  void start_pieces();
  ssize_t start_piece(Flight& flight, Request& request, bool last);
  void note_stall(bool stalled);
  void reap();
  void on_done(Request& request);
  void finish_piece(std::uint32_t request);
  void on_error();
  void fail(Status status, std::string text, std::uint32_t failed_flight = kNoFlight);
  void release_port();

  const FabricOptions options_;
  const FabricGrant grant_;
  std::optional<FabricPort> port_;  ///< empty after close() or a failure
  RegisteredMemory<FabricRegion> registered_;
  fi_addr_t node_ = FI_ADDR_UNSPEC;
  std::string description_;
  std::uint64_t piece_bytes_ = 0;
  bool in_order_ = false;
  std::vector<Flight> flights_;
  std::vector<std::uint32_t> free_flights_;
  std::vector<Request> requests_;
  std::vector<std::uint32_t> free_requests_;
  Ring<std::uint32_t> waiting_;  ///< flights with pieces to start
  Ring<std::uint32_t> started_;  ///< requests, when completions keep their order
  Ring<Completion> finished_;
  Ticks stalled_since_ = 0;   ///< 0: not stalled
  bool connected_ = false;    ///< the welcome has been read
  Status failure_;            ///< status of the first read that failed
  std::string failure_text_;  ///< the provider's words
  /// The next key of a registration, where the provider does not choose keys.
  std::uint64_t next_key_ = 1;
};

}  // namespace farvec::transport
