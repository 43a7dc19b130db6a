#include "tiers/attach/read_paths.h"

#include <utility>

#include "base/unreachable_error.h"
#include "transport/fabric/fabric_endpoint.h"
#include "transport/fabric/fabric_writer.h"
#include "transport/fabric/library.h"
#include "transport/verbs/verbs_endpoint.h"
#include "transport/verbs/verbs_writer.h"

namespace farvec::tiers {
namespace {

namespace v1 = memory_node::v1;

/// Wraps errors in UnreachableError: a node died, or a lease ended, between two calls, so another
/// attachment may succeed.
template <typename Made, typename Options>
auto connector(Options options) {
  return [options = std::move(options)]() {
    try {
      return std::make_unique<Made>(options);
    } catch (const Error& error) {
      throw UnreachableError("{}", error.what());
    }
  };
}

transport::VerbsPeer verbs_peer(const v1::VerbsGrant& grant, const RemoteReads& reads) {
  transport::VerbsPeer peer;
  peer.host = grant.host();
  peer.port = static_cast<std::uint16_t>(grant.port());
  peer.connect_timeout = reads.connect_timeout;
  peer.lease = reads.lease;
  peer.device = reads.path.device;
  return peer;
}

transport::VerbsOptions verbs_options(const v1::VerbsGrant& grant, const RemoteReads& reads) {
  transport::VerbsOptions verbs;
  verbs.peer = verbs_peer(grant, reads);
  verbs.tuning = reads.tuning;
  if (const std::uint32_t budget = reads.path.device.read_budget; budget > 0) {
    verbs.max_outstanding = reads_per_core(budget, reads.cores);
  }
  return verbs;
}

/// Returns the options of an endpoint, or of a writer.
template <typename Options>
Options fabric_options(const v1::FabricGrant& grant, const RemoteReads& reads) {
  transport::wake_fabric();  // here, so that it does not happen when the first search connects
  Options fabric;
  fabric.provider = reads.path.provider;
  fabric.grant = grant.grant();
  fabric.lease = reads.lease;
  fabric.peer = "the memory node at " + reads.node;
  fabric.connect_timeout = reads.connect_timeout;
  return fabric;
}

/// Returns the case of the grant in the answer, which is the tier's; throws Error when it is
/// another.
v1::AttachResponse::GrantCase require_grant(const v1::AttachResponse& response,
                                            const RemoteReads& reads) {
  const auto wanted = reads.path.kind == ReadPathKind::verbs ? v1::AttachResponse::kVerbs
                                                             : v1::AttachResponse::kFabric;
  if (response.grant_case() == wanted) return wanted;
  throw Error("the memory node at {} granted nothing for {}", reads.node,
              to_string(reads.path.kind));
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
  if (require_grant(response, reads) == v1::AttachResponse::kVerbs) {
    return connector<transport::VerbsEndpoint>(verbs_options(response.verbs(), reads));
  }
  return connector<transport::FabricEndpoint>(
      fabric_options<transport::FabricOptions>(response.fabric(), reads));
}

WriterMaker remote_writers(const v1::AttachResponse& response, const RemoteReads& reads) {
  if (require_grant(response, reads) == v1::AttachResponse::kVerbs) {
    transport::VerbsWriterOptions verbs;
    verbs.peer = verbs_peer(response.verbs(), reads);
    return connector<transport::VerbsWriter>(std::move(verbs));
  }
  return connector<transport::FabricWriter>(
      fabric_options<transport::FabricWriterOptions>(response.fabric(), reads));
}

}  // namespace farvec::tiers
