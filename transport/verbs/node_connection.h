// A NodeConnection is a memory node's end of one client's connection, with keys that only this
// client has.
#pragma once

#include <vector>

#include "transport/grant.h"
#include "transport/verbs/device.h"
#include "transport/verbs/queue_pair.h"
#include "transport/verbs/wire.h"

namespace farvec::transport {

/// A NodeDevice is a device that the node has opened.
struct NodeDevice {
  DeviceContext context;
  DeviceLimits limits;
  ProtectionDomain domain;  ///< protection domain of the windows of all clients
};

/// A Share is what clients of one role are granted.
struct Share {
  GrantedRegions regions;
  int access = 0;  ///< the right of the keys: IBV_ACCESS_REMOTE_...
  /// Memory that windows are bound to; none of its keys leaves the node.
  std::vector<MemoryRegion> registered;
};

/// Registers the regions for windows; does nothing where the device has no windows. Throws
/// SystemError.
void prepare_share(const NodeDevice& device, Share& share);

/// Has one key per region: the key of a window of type 2B that is bound to the queue pair or,
/// without windows, of a registration in a protection domain of its own. Destroying it ends keys
/// and queue pair; with release() the identifier that sends the disconnect survives.
class NodeConnection {
 public:
  /// `device` and `share` must outlive it. Throws SystemError.
  NodeConnection(Connection id, const VerbsHello& hello, const NodeDevice& device,
                 const Share& share);

  /// Answers the client's hello. Throws SystemError.
  void accept(const PathTerms& terms);
  /// Sends the keys; call it after the client's first message. False when they did not leave within
  /// a second.
  bool send_grants();
  /// Ends keys and queue pair. The returned identifier sends the disconnect when it is destroyed.
  Connection release();

  rdma_cm_id* id() const { return id_.get(); }
  /// Compares handles in events.
  bool owns(const void* queue) const { return queue == pair_.get() || queue == queue_.get(); }
  const GrantLease& lease() const { return hello_.lease; }
  VerbsRole role() const { return hello_.role; }
  std::uint32_t path_mtu_bytes() const { return path_mtu_bytes_; }

 private:
  void register_regions();
  bool bind_windows(std::vector<ibv_send_wr>& chain);
  bool await_sent();

  const VerbsHello hello_;
  const NodeDevice& device_;
  const Share& share_;
  std::uint32_t path_mtu_bytes_ = 0;
  ProtectionDomain own_domain_;            ///< used without windows
  std::vector<MemoryRegion> own_regions_;  ///< used without windows
  std::vector<VerbsGrant> grants_;
  MemoryRegion message_;  ///< registration of `grants_`
  CompletionQueue queue_;
  Connection id_;
  QueuePair pair_;
  // Freed before the queue pair to which they are bound, as the device requires.
  std::vector<MemoryWindow> windows_;
};

}  // namespace farvec::transport
