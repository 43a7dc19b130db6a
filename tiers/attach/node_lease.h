// take_lease() takes a lease on a memory node's index or log, with the descriptors of what it
// opens.
#pragma once

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <functional>
#include <vector>

#include "base/descriptor.h"
#include "tiers/attach/attach_options.h"
#include "tiers/attach/lease_keeper.h"
#include "transport/grant.h"

namespace farvec::tiers {

/// A LeaseCall is the call that asks for a lease.
struct LeaseCall {
  using Response = memory_node::v1::AttachResponse;

  /// The call itself: Attach, or AttachLog. It writes the answer into `response`.
  std::function<grpc::Status(memory_node::v1::MemoryNode::Stub& stub, grpc::ClientContext& context,
                             const memory_node::v1::AttachRequest& request, Response& response)>
      attach;
  /// How long to go on asking while every lease is taken, or another writer's lease runs.
  std::chrono::milliseconds taken_wait{0};
};

/// A NodeLease is what a node granted. The node takes the lease back when the grant's socket
/// closes.
struct NodeLease {
  HeldLease lease;  ///< with the grant's socket, where regions are mapped
  memory_node::v1::AttachResponse response;
  std::vector<Descriptor> regions;  ///< when mapped, one for each region
};

/// Connects, leases, and is granted, within options.wait (and taken_wait, once connected). Throws
/// AbsentError when nothing listens and the options do not wait for that, and UnreachableError for
/// everything else that another try may change.
NodeLease take_lease(const AttachOptions& options, const LeaseCall& call);

/// Returns the lease id in the form that every way of reading shows to the node. Throws Error when
/// it is none.
transport::GrantLease lease_bytes(const memory_node::v1::AttachResponse& response,
                                  const AttachOptions& options);

}  // namespace farvec::tiers
