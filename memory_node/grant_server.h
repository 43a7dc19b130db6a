// A GrantServer gives descriptors of the regions to clients that show a lease.
#pragma once

#include <poll.h>

#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "memory_node/lease_table.h"
#include "memory_node/publication.h"
#include "rpc/grant_wire.h"
#include "rpc/socket_lock.h"
#include "rpc/unix_socket.h"

namespace farvec::memory_node {

/// Serves a Unix socket on its own thread. For each lease the client gets the table that the lease
/// was granted for, with descriptors that cannot write, or, when the lease is for writing, with
/// some that can. A connection lives as long as its lease: the node closes it when the lease has
/// ended, and takes the lease back when the client closes it (or dies).
class GrantServer {
 public:
  struct Options {
    std::string path;
    std::size_t max_connections = 80;
    /// A client that has not sent its lease within this time is cut off.
    std::chrono::milliseconds patience{2000};
  };

  /// Listens at once. The leases are borrowed. Throws Error when something listens on the path.
  GrantServer(Options options, LeaseTable& leases);
  ~GrantServer();  ///< closes every connection and removes the socket file
  GrantServer(const GrantServer&) = delete;
  GrantServer& operator=(const GrantServer&) = delete;

  const std::string& path() const { return options_.path; }

 private:
  using Clock = LeaseTable::Clock;
  struct Connection {
    Descriptor socket;
    Clock::time_point since;
    rpc::GrantRequest request;
    std::size_t received = 0;
    bool granted = false;
  };

  void run();
  /// Lists wake_, listener_, then the connections in their order.
  void list_sockets(std::vector<pollfd>& polled) const;
  void serve_all(std::span<const pollfd> polled);
  void
  hang_up();  ///< closes all connections for good: a client is better refused than kept waiting
  void accept_one();
  bool serve(Connection& connection, short events);  ///< false: close it
  bool receive(Connection& connection);
  bool answer(Connection& connection);
  bool outlived(const Connection& connection, Clock::time_point now) const;

  const Options options_;
  LeaseTable& leases_;
  rpc::SocketLock lock_;  ///< a lock on the path
  Descriptor listener_;
  Descriptor wake_;  ///< eventfd; readable once the thread must end
  std::vector<Connection> connections_;
  Clock::time_point
      accept_from_{};  ///< later than now while there is no descriptor for another client
  std::thread thread_;
};

}  // namespace farvec::memory_node
