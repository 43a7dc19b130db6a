// A lease on a memory node's index or log, with the descriptors of what it opens.
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

/// How a lease is asked for.
struct LeaseCall {
  using Response = memory_node::v1::AttachResponse;

  /// The call itself: Attach, or AttachLog. Writes what it answered into `response`.
  std::function<grpc::Status(memory_node::v1::MemoryNode::Stub& stub, grpc::ClientContext& context,
                             const memory_node::v1::AttachRequest& request, Response& response)>
      attach;
  /// How long to ask again while every lease is taken, or another writer's lease runs.
  std::chrono::milliseconds taken_wait{0};
};

/// The node takes it back when the grant's socket closes.
struct NodeLease {
  HeldLease lease;  ///< with the grant's socket, where regions are mapped
  memory_node::v1::AttachResponse response;
  std::vector<Descriptor> regions;  ///< mapped: one of each
};

/// Connects, leases, and is granted, within options.wait (and taken_wait, once connected). Throws
/// AbsentError when nobody is to be waited for and nobody listens, UnreachableError for whatever
/// else another try may bring.
NodeLease take_lease(const AttachOptions& options, const LeaseCall& call);

/// The lease id as every way of reading shows it to the node. Throws Error when it is none.
transport::GrantLease lease_bytes(const memory_node::v1::AttachResponse& response,
                                  const AttachOptions& options);

}  // namespace farvec::tiers
