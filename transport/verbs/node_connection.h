// A memory node's end of one client's connection, with the keys that are this client's alone.
#pragma once

#include <vector>

#include "transport/grant.h"
#include "transport/verbs/device.h"
#include "transport/verbs/queue_pair.h"
#include "transport/verbs/wire.h"

namespace farvec::transport {

/// The device as the node uses it.
struct NodeDevice {
  DeviceContext context;
  DeviceLimits limits;
  ProtectionDomain domain;  ///< of the windows of all clients
};

/// What clients of one role are granted.
struct Share {
  GrantedRegions regions;
  int access = 0;                        ///< the right of the keys: IBV_ACCESS_REMOTE_...
  std::vector<MemoryRegion> registered;  ///< what windows are bound to; no key of it leaves
};

/// Registers the regions for windows; nothing to do where the device has none. Throws SystemError.
void prepare_share(const NodeDevice& device, Share& share);

/// One key per region, in a window of type 2B that is bound to the queue pair, else of a
/// registration in a protection domain of its own. Destroying it ends keys and queue pair; the
/// identifier that said hello stays with release().
class NodeConnection {
 public:
  /// `device` and `share` must outlive it. Throws SystemError.
  NodeConnection(Connection id, const VerbsHello& hello, const NodeDevice& device,
                 const Share& share);

  /// Answers the client's hello. Throws SystemError.
  void accept(const PathTerms& terms);
  /// Behind the client's first sign of life. False when they did not leave within a second.
  bool send_grants();
  /// Ends keys and queue pair. What is left says good-bye when it is destroyed.
  Connection release();

  rdma_cm_id* id() const { return id_.get(); }
  /// For comparing.
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
  ProtectionDomain own_domain_;            ///< without windows
  std::vector<MemoryRegion> own_regions_;  ///< without windows
  std::vector<VerbsGrant> grants_;
  MemoryRegion message_;  ///< over `grants_`
  CompletionQueue queue_;
  Connection id_;
  QueuePair pair_;
  // Freed before the queue pair they are bound to, as the device requires.
  std::vector<MemoryWindow> windows_;
};

}  // namespace farvec::transport
