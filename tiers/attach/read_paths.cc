#include "tiers/attach/read_paths.h"

#include <utility>

#include "search/unreachable_error.h"
#include "transport/fabric/fabric_endpoint.h"
#include "transport/verbs/verbs_endpoint.h"

namespace farvec::tiers {
namespace {

namespace v1 = memory_node::v1;

/// A node that died, or a lease that ended, between two calls: another attachment may do better.
template <typename Endpoint, typename Options>
EndpointMaker connector(Options options) {
  return [options = std::move(options)]() -> std::unique_ptr<transport::Endpoint> {
    try {
      return std::make_unique<Endpoint>(options);
    } catch (const Error& error) {
      throw search::UnreachableError("{}", error.what());
    }
  };
}

transport::VerbsOptions verbs_options(const v1::VerbsGrant& grant, const RemoteReads& reads) {
  transport::VerbsOptions verbs;
  verbs.peer.host = grant.host();
  verbs.peer.port = static_cast<std::uint16_t>(grant.port());
  verbs.peer.connect_timeout = reads.connect_timeout;
  verbs.peer.lease = reads.lease;
  verbs.peer.device = reads.path.device;
  verbs.tuning = reads.tuning;
  if (const std::uint32_t budget = reads.path.device.read_budget; budget > 0) {
    verbs.max_outstanding = reads_per_core(budget, reads.cores);
  }
  return verbs;
}

transport::FabricOptions fabric_options(const v1::FabricGrant& grant, const RemoteReads& reads) {
  transport::FabricOptions fabric;
  fabric.provider = reads.path.provider;
  fabric.grant = grant.grant();
  fabric.lease = reads.lease;
  fabric.peer = "the memory node at " + reads.node;
  fabric.connect_timeout = reads.connect_timeout;
  return fabric;
}

}  // namespace

std::string_view to_string(ReadPathKind kind) {
  switch (kind) {
    case ReadPathKind::verbs:
      return "verbs";
    case ReadPathKind::fabric:
      return "fabric";
    case ReadPathKind::mapped:
      return "mapped";
  }
  return "unknown";
}

std::uint32_t reads_per_core(std::uint32_t budget, std::uint32_t cores) {
  if (budget < cores) {
    throw Error(
        "a budget of {} outstanding reads is not one for each of {} cores: give reads= more",
        budget, cores);
  }
  return budget / cores;
}

v1::Transport transport_of(ReadPathKind kind) {
  switch (kind) {
    case ReadPathKind::verbs:
      return v1::TRANSPORT_VERBS;
    case ReadPathKind::fabric:
      return v1::TRANSPORT_FABRIC;
    default:
      return v1::TRANSPORT_MAPPED;
  }
}

EndpointMaker remote_endpoints(const v1::AttachResponse& response, const RemoteReads& reads) {
  const bool verbs = reads.path.kind == ReadPathKind::verbs;
  const auto wanted = verbs ? v1::AttachResponse::kVerbs : v1::AttachResponse::kFabric;
  if (response.grant_case() != wanted) {
    throw Error("the memory node at {} granted no reads by {}", reads.node,
                to_string(reads.path.kind));
  }
  if (verbs) return connector<transport::VerbsEndpoint>(verbs_options(response.verbs(), reads));
  return connector<transport::FabricEndpoint>(fabric_options(response.fabric(), reads));
}

}  // namespace farvec::tiers
