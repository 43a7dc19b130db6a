// A memory node's end of RDMA: accepts connections and grants each the reading of its regions.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/status.h"
#include "transport/grant.h"
#include "transport/verbs/connection_manager.h"
#include "transport/verbs/wire.h"

namespace farvec::transport {

struct VerbsListenerOptions {
  std::string host;        ///< address of an RDMA device of this machine
  std::uint16_t port = 0;  ///< 0: the system's choice
  std::size_t max_connections = 256;
};

/// Never touches the regions' bytes: the device reads them. Each connection has a key of its own
/// for each region that can read and nothing else: a memory window of type 2B, bound to the
/// connection's queue pair, where the device has them, else a registration in a protection domain
/// of its own. The key dies with the connection.
class VerbsListener {
 public:
  /// The regions' memory must outlive the listener. The lease is asked for when a client connects
  /// and every 50 ms, on the listener's thread; the connection ends when it is not held. Throws
  /// Error or SystemError: no device, an address that is not a device's, a limit on locked memory
  /// (the message says which).
  VerbsListener(VerbsListenerOptions options, GrantedRegions regions, Authorise authorise);
  ~VerbsListener();  ///< ends every connection
  VerbsListener(const VerbsListener&) = delete;
  VerbsListener& operator=(const VerbsListener&) = delete;

  std::uint16_t port() const { return port_; }
  /// Ends the connections of a lease: their keys are invalid when this returns. Any thread.
  void revoke(const GrantLease& lease);
  std::size_t connections() const;
  const DeviceLimits& device() const { return device_; }

 private:
  struct Client;

  void listen();
  void run();
  void end_expired();
  void on_event(const ConnectionEvent& event);
  void on_request(const ConnectionEvent& event);
  StatusCode check_hello(const ConnectionEvent& event, std::uint32_t path_mtu_bytes,
                         VerbsHello& hello) const;
  void accept(Connection id, const VerbsHello& hello);
  void register_regions(Client& client);
  void make_queue_pair(Client& client);
  bool send_grants(Client& client);

  const VerbsListenerOptions options_;
  const GrantedRegions regions_;
  const Authorise authorise_;
  DeviceLimits device_;
  EventChannel channel_;
  Connection listener_;
  std::uint16_t port_ = 0;
  // Shared by the windows of all connections; unused where the device has no windows.
  ProtectionDomain domain_;
  std::vector<MemoryRegion> registered_;
  mutable std::mutex mutex_;  ///< over clients_
  std::map<rdma_cm_id*, std::unique_ptr<Client>> clients_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace farvec::transport
