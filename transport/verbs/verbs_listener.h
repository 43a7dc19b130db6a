// A VerbsListener is a memory node's end of RDMA. It accepts connections: readers may read its
// regions, one connection may write.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/status.h"
#include "transport/grant.h"
#include "transport/verbs/connection_manager.h"
#include "transport/verbs/node_connection.h"
#include "transport/verbs/parked_connections.h"

namespace farvec::transport {

struct VerbsListenerOptions {
  std::string host;        ///< address of an RDMA device of this machine
  std::uint16_t port = 0;  ///< 0: the system's choice
  /// The most connections of one lease's reader; a reader that has this many gets no more. The code
  /// that grants leases has to bound their number.
  std::size_t connections_per_lease = 64;
  bool memory_windows = true;  ///< false: do without them, even where the device has them
};

/// Never touches the regions' bytes: the device does. Each connection has a key of its own for each
/// region, a memory window of type 2B that is bound to the connection's queue pair where the device
/// has them, else a registration in a protection domain of its own. A reader's key can read and
/// nothing else, and its queue pair takes no writes whatever the key. A writer's can read and
/// write; there is one writer at a time, and others are refused while it is connected. Keys end
/// with their connection, and the connection with its lease.
class VerbsListener {
 public:
  /// The regions' memory must outlive the listener. A lease is checked when a client connects and
  /// every 50 ms, on the listener's thread; the connection ends when it is not held. Throws Error
  /// or SystemError: no device, an address that is not a device's, a limit on locked memory (the
  /// message says which).
  VerbsListener(VerbsListenerOptions options, GrantedRegions regions, Authorise authorise,
                WritableRegions writable = {});
  ~VerbsListener();  ///< ends every connection
  VerbsListener(const VerbsListener&) = delete;
  VerbsListener& operator=(const VerbsListener&) = delete;

  std::uint16_t port() const { return port_; }
  /// Ends the connections of a lease: their keys are invalid when this returns. Any thread.
  void revoke(const GrantLease& lease);
  /// Returns the number of connections of readers and the writer together. Any thread.
  std::size_t connections() const;
  bool has_writer() const;
  /// Returns the path MTU of the lease's connection; 0 when it has none. Any thread.
  std::uint32_t path_mtu_bytes(const GrantLease& lease) const;
  const DeviceLimits& device() const { return device_.limits; }
  /// Returns the events of the device since the listener was made. When its port goes down, the
  /// connections over it end. When the device is gone, all connections end and no new ones are
  /// accepted. Any thread.
  DeviceEventCounts device_events() const;

 private:
  using Clients = std::map<rdma_cm_id*, std::unique_ptr<NodeConnection>>;

  void listen();
  void run();
  void take_events();
  void end_expired();
  bool is_authorised(VerbsRole role, const GrantLease& lease) const;
  void on_event(const ConnectionEvent& event);
  void on_request(const ConnectionEvent& event);
  void on_device_event(const DeviceEvent& event);
  void let_device_go();
  StatusCode check_hello(const ConnectionEvent& event, VerbsHello& hello) const;
  void accept(Connection id, const VerbsHello& hello);
  template <typename Condition>
  void end_if(Condition condition);
  bool has_writer_locked() const;
  std::size_t readers_locked(const GrantLease& lease) const;

  const VerbsListenerOptions options_;
  const Authorise authorise_;
  const Authorise authorise_writer_;
  EventChannel channel_;
  ParkedConnections parked_;
  Connection listener_;
  std::uint16_t port_ = 0;
  NodeDevice device_;
  Share readable_;
  Share writable_;
  mutable std::mutex mutex_;  ///< guards clients_ and events_
  Clients clients_;
  DeviceEventCounts events_;
  bool device_gone_ = false;  ///< used by the listener's thread
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace farvec::transport
