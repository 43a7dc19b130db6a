// Connects a client to the memory node that sent it a grant: the part that readers and writers
// share.
#pragma once

#include <string>

#include "transport/fabric/grant.h"
#include "transport/fabric/port.h"
#include "transport/grant.h"

namespace farvec::transport {

struct FabricPeer {
  const FabricGrant& grant;
  const std::string& provider;  ///< this end's provider
  const std::string& name;      ///< name for messages
};

/// `capabilities` are those of FabricQuery. Throws Error when the grant is for another provider.
FabricQuery peer_query(const FabricPeer& peer, std::uint64_t capabilities);

/// Returns the address by which requests name the node. Throws Error when the port speaks another
/// protocol than the node, or does not take its address.
fi_addr_t insert_peer(FabricPort& port, const FabricPeer& peer);

/// Throws Error when the bytes at the welcome's place in the node are not the welcome of this
/// lease.
void check_welcome(const FabricWelcome& welcome, const FabricPeer& peer, const GrantLease& lease);

}  // namespace farvec::transport
