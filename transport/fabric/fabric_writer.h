// A FabricWriter does one-sided writes through libfabric, to fill a memory node's log from another
// machine.
#pragma once

#include <rdma/fabric.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/memory.h"
#include "transport/fabric/grant.h"
#include "transport/fabric/peer.h"
#include "transport/fabric/port.h"
#include "transport/grant.h"
#include "transport/region_writer.h"

namespace farvec::transport {

struct FabricWriterOptions {
  std::string provider;  ///< "tcp", "verbs;ofi_rxm", "shm", "efa", ...; the same as the node's
  std::string grant;     ///< the grant of a lease for writing, sent by the node's control plane
  GrantLease lease{};
  std::string peer = "the memory node";  ///< name for messages
  /// Longer writes are posted in pieces. Reduced to what either end allows, and to what the
  /// provider keeps in order.
  std::uint32_t piece_bytes = 256 * 1024;
  /// Pieces on their way; each has a place of piece_bytes in this process.
  std::uint32_t max_outstanding = 16;
  bool delivery_complete = true;  ///< false: do without it, even where the provider has it
  std::chrono::milliseconds connect_timeout{5000};
  std::chrono::milliseconds timeout{10'000};  ///< limit for one write() or flush()
  /// How long the provider may take no request while none is on its way: it is then reconnecting to
  /// a peer that has gone.
  std::chrono::milliseconds stall_timeout{1000};
};

/// The provider decides how it says that bytes are in the node's memory. Where it can, each write
/// completes once the node's end has put it there (FI_DELIVERY_COMPLETE), and a flush waits for all
/// completions: no message goes out for it. Otherwise a flush reads back the end of the last write,
/// which needs a provider that carries out a read after the writes before it (FI_ORDER_RAW). Where
/// writes may overtake each other (no FI_ORDER_WAW), one piece is on its way at a time.
class FabricWriter final : public RegionWriter {
 public:
  /// Connects, and reads the node's welcome. Throws Error naming the peer when the grant is not
  /// one, names another provider or protocol, or the node cannot be reached; and when the provider
  /// can neither complete at delivery nor keep reads after writes.
  explicit FabricWriter(FabricWriterOptions options);
  ~FabricWriter() override;

  /// Returns deadline_exceeded after the timeout, unavailable when the node takes no connection.
  Status write(RegionId region, std::uint64_t offset, std::span<const std::byte> bytes) override;
  Status flush() override;
  std::uint64_t region_bytes(RegionId region) const override;
  const Status& status() const override { return status_; }

  /// Says whether writes complete at delivery; otherwise a flush reads back.
  bool completes_at_delivery() const { return delivery_; }
  std::uint64_t piece_bytes() const { return piece_bytes_; }
  std::size_t max_outstanding() const { return requests_.size(); }

 private:
  using Deadline = std::chrono::steady_clock::time_point;
  /// Bytes that a flush reads back: the end of the last write.
  static constexpr std::size_t kEchoBytes = 8;
  /// Bytes for the echo, and for the welcome before it.
  static constexpr std::size_t kEchoRoom = 64;
  static constexpr Status kSilent{StatusCode::deadline_exceeded,
                                  "the memory node did not answer in time"};
  static constexpr Status kStalled{StatusCode::unavailable,
                                   "the memory node takes no fabric connection"};

  struct Request {
    fi_context2 context{};  ///< libfabric keeps notes in it and gives its address back
  };
  /// A NodeAddress is where a piece begins in the node's memory, in the node's terms.
  struct NodeAddress {
    std::uint64_t address = 0;
    std::uint64_t key = 0;
  };
  struct Tail {
    NodeAddress at;
    std::uint32_t bytes = 0;
    std::byte content[kEchoBytes] = {};
  };

  FabricPeer peer() const { return {grant_, options_.provider, options_.peer}; }
  void open();
  void choose_order();
  void stage();
  void connect();
  Status post_piece(const NodeAddress& at, std::span<const std::byte> piece, Deadline end);
  Status read_echo(const NodeAddress& at, std::uint32_t bytes, Deadline end);
  template <typename Post>
  Status post(Post request, Deadline end);
  /// Waits until `done` is true. When it is not by `end`, the writer fails with `late`.
  template <typename Done>
  Status await(Done done, Deadline end, const Status& late = kSilent);
  void take_completions();
  void on_done(void* context);
  void fail(const Status& why, const std::string& words);
  bool all_done() const { return free_requests_.size() == requests_.size() && !echo_out_; }
  void close();
  std::byte* echo() { return staging_.data() + staging_.size() - kEchoRoom; }

  const FabricWriterOptions options_;
  const FabricGrant grant_;
  HugeBuffer staging_;              ///< a piece for each request, and the echo after them
  std::optional<FabricPort> port_;  ///< empty after a failure
  FabricRegion registered_;  ///< registration of the staging memory, where the provider wants one
  fi_addr_t node_ = FI_ADDR_UNSPEC;
  bool delivery_ = false;
  std::uint64_t piece_bytes_ = 0;
  std::vector<Request> requests_;
  std::vector<std::uint32_t> free_requests_;
  Request echo_request_;
  bool echo_out_ = false;
  bool connected_ = false;  ///< the welcome has been read
  Tail tail_;
  bool unflushed_ = false;
  Status status_;
};

}  // namespace farvec::transport
