// A ClientConnection is a client's end of a reliable connection to a memory node: the part that
// readers and writers share.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/status.h"
#include "transport/grant.h"
#include "transport/registered_memory.h"
#include "transport/verbs/connection_manager.h"
#include "transport/verbs/device.h"
#include "transport/verbs/queue_pair.h"
#include "transport/verbs/verbs_device.h"
#include "transport/verbs/wire.h"

namespace farvec::transport {

/// A VerbsPeer is the node to connect to, and the device to connect from.
struct VerbsPeer {
  std::string host;
  std::uint16_t port = 0;
  GrantLease lease{};
  std::chrono::milliseconds connect_timeout{5000};
  VerbsDevice device;
};

struct ClientConnectionOptions {
  VerbsPeer peer;
  VerbsRole role = VerbsRole::reader;
  std::uint32_t max_requests = 0;  ///< requests in flight; reduced to what the device has
  std::uint32_t inline_bytes = 0;  ///< 0 where the device has less room
};

/// Owns a queue pair, its completion queue, and a context of the device, so that the events of the
/// context belong to this connection. One thread uses it. Once it has failed it stays so.
class ClientConnection {
 public:
  /// Connects, and waits for the grant of the node's regions. Throws Error naming the peer when it
  /// cannot be reached, speaks another version, or refuses the lease or the role.
  explicit ClientConnection(ClientConnectionOptions options);
  ~ClientConnection() { close(); }
  ClientConnection(const ClientConnection&) = delete;
  ClientConnection& operator=(const ClientConnection&) = delete;

  /// Is valid until close().
  ibv_qp& queue_pair() { return *pair_; }
  ibv_cq& completions() { return *queue_; }
  const std::vector<VerbsGrant>& grants() const { return grants_; }
  std::uint64_t region_bytes(std::uint32_t region) const {
    return region < grants_.size() ? grants_[region].bytes : 0;
  }

  /// `access` is that of ibv_reg_mr(). The memory must outlive its use by work requests. Throws
  /// SystemError.
  const ibv_mr& register_range(std::span<std::byte> memory, int access);
  /// Returns the registration of the range that holds all of these bytes; null when there is none.
  const ibv_mr* registration(const std::byte* begin, std::uint32_t bytes) const;

  /// Asks at most every 2 ms whether the peer has ended the connection and which events the device
  /// has: a system call each. When either has ended it, the queue pair enters its error state. The
  /// device is asked on a connection that has failed too, until it has given a reason.
  void look();
  /// Puts the queue pair into its error state. The first reason counts, except that a reason from
  /// the device replaces every other, whichever is seen first. A peer that shares the device or the
  /// port may be heard before the device, and a new connection would not help.
  void fail(Status why);
  /// Not ok once the connection has failed or was closed.
  const Status& status() const { return status_; }
  /// Says whether an event of the device was the reason.
  bool ended_by_device() const { return ended_by_device_; }
  /// Sends a disconnect and destroys the queue pair: nothing reaches registered memory after that.
  /// Idempotent.
  void close();

  const std::string& peer() const { return peer_; }
  const DeviceLimits& device() const { return device_; }
  std::uint32_t max_requests() const { return max_requests_; }
  std::uint32_t inline_bytes() const { return inline_bytes_; }
  std::uint32_t max_reads() const { return terms_.reads_started; }
  std::uint32_t path_mtu_bytes() const { return terms_.path_mtu_bytes; }
  const DeviceEventCounts& device_events() const { return events_; }

 private:
  using Deadline = std::chrono::steady_clock::time_point;

  void resolve(Deadline end);
  void make_queue_pair();
  void await_grants_in(std::vector<VerbsGrant>& room);
  void exchange_hello(Deadline end);
  VerbsWelcome check_welcome(const ConnectionEvent& answer) const;
  void check_terms(const VerbsWelcome& welcome) const;
  void receive_grants(std::size_t count, Deadline end);
  void take_connection_event();
  void take_device_events();
  void on_device_event(const DeviceEvent& event);
  void end(Status why);

  const ClientConnectionOptions options_;
  const std::string peer_;
  DeviceLimits device_;
  std::uint32_t max_requests_ = 0;
  std::uint32_t inline_bytes_ = 0;
  PathTerms terms_;
  Status status_;
  DeviceEventCounts events_;
  bool ended_by_device_ = false;
  Ticks next_look_ = 0;
  EventChannel channel_;
  Connection connection_;
  DeviceContext context_;
  ProtectionDomain domain_;
  CompletionQueue queue_;
  std::vector<VerbsGrant> grants_;
  RegisteredMemory<MemoryRegion> registered_;
  QueuePair pair_;  ///< destroyed before the objects that it uses
};

}  // namespace farvec::transport
