#include "transport/fabric/peer.h"

#include "base/error.h"

namespace farvec::transport {

FabricQuery peer_query(const FabricPeer& peer, std::uint64_t capabilities) {
  if (peer.grant.provider != peer.provider) {
    throw Error("{} serves libfabric's provider '{}', not '{}'", peer.name, peer.grant.provider,
                peer.provider);
  }
  FabricQuery query;
  query.provider = peer.provider;
  query.capabilities = capabilities;
  query.address_format = peer.grant.address_format;
  query.peer = peer.grant.address;
  return query;
}

fi_addr_t insert_peer(FabricPort& port, const FabricPeer& peer) {
  const fi_info& info = port.info();
  if (info.ep_attr->protocol != peer.grant.protocol) {
    throw Error(
        "{} speaks libfabric's protocol {} and provider {} of this machine {}: are the two "
        "libraries of different versions?",
        peer.name, peer.grant.protocol, info.fabric_attr->prov_name, info.ep_attr->protocol);
  }
  fi_addr_t node = FI_ADDR_UNSPEC;
  if (fi_av_insert(&port.peers(), peer.grant.address.data(), 1, &node, 0, nullptr) != 1) {
    throw Error("libfabric's provider {} does not take the address that {} sent",
                info.fabric_attr->prov_name, peer.name);
  }
  return node;
}

void check_welcome(const FabricWelcome& welcome, const FabricPeer& peer, const GrantLease& lease) {
  if (welcome.magic != kFabricMagic) throw Error("{} is not a farvec memory node", peer.name);
  if (welcome.version != kFabricVersion) {
    throw Error("{} speaks version {} of the fabric welcome, this program {}", peer.name,
                welcome.version, kFabricVersion);
  }
  if (welcome.lease != lease || welcome.regions != peer.grant.regions.size()) {
    throw Error("{} refused: the endpoint serves another lease than this client's", peer.name);
  }
}

}  // namespace farvec::transport
