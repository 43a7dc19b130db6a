// A client's way to the memory node that sent it a grant: what readers and writers share.
#pragma once

#include <string>

#include "transport/fabric/grant.h"
#include "transport/fabric/port.h"
#include "transport/grant.h"

namespace farvec::transport {

struct FabricPeer {
  const FabricGrant& grant;
  const std::string& provider;  ///< this end's
  const std::string& name;      ///< for messages
};

/// `capabilities` as for FabricQuery. Throws Error when the grant is of another provider.
FabricQuery peer_query(const FabricPeer& peer, std::uint64_t capabilities);

/// How requests name the node. Throws Error when the port speaks another protocol than the node, or
/// does not take its address.
fi_addr_t insert_peer(FabricPort& port, const FabricPeer& peer);

/// Throws Error when what the node has at the welcome's place is not that of this lease.
void check_welcome(const FabricWelcome& welcome, const FabricPeer& peer, const GrantLease& lease);

}  // namespace farvec::transport
