// ParkedConnections keeps connections that ended while their port was down.
#pragma once

#include <list>
#include <mutex>

#include "transport/verbs/handles.h"

namespace farvec::transport {

/// Destroying an rdma_cm identifier sends a disconnect to the peer. Over a port that is down it
/// does not arrive, and soft-RoCE can make no connection after it has tried. So those identifiers
/// wait here, after their queue pairs were destroyed, until the port is up. Any thread.
class ParkedConnections {
 public:
  /// Destroys `id` now unless its port is down. `channel` is the identifier's when no other object
  /// keeps it.
  void end(Connection id, EventChannel channel = nullptr);
  /// Destroys the identifiers whose port has come up.
  void release();
  /// Destroys all identifiers.
  void clear();

 private:
  struct Parked {
    EventChannel channel;
    Connection id;
  };

  std::mutex mutex_;
  std::list<Parked> parked_;
};

}  // namespace farvec::transport
