// Connections that have ended while their port was down.
#pragma once

#include <list>
#include <mutex>

#include "transport/verbs/handles.h"

namespace farvec::transport {

/// Destroying an rdma_cm identifier says good-bye to the peer. Over a port that is down nobody
/// hears it, and soft-RoCE can make no connection after it has tried; so those identifiers wait
/// here, their queue pairs gone, until the port is up. Any thread.
class ParkedConnections {
 public:
  /// Destroys `id` now unless its port is down. `channel` is the identifier's when nobody else
  /// keeps it.
  void end(Connection id, EventChannel channel = nullptr);
  /// Destroys those whose port has come up.
  void release();
  /// Destroys all.
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
