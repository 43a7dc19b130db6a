#include "tiers/attach/attachment.h"

#include <grpcpp/grpcpp.h>

#include <cstring>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "layout/region/region_header.h"
#include "rpc/channel.h"
#include "rpc/grant_wire.h"
#include "rpc/status.h"
#include "search/unreachable_error.h"
#include "tiers/attach/live_endpoint.h"

namespace farvec::tiers {
namespace {

namespace v1 = memory_node::v1;
using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kRetryPeriod{50};

bool stopped(const AttachOptions& options) {
  // relaxed: only the flag itself matters.
  return options.stop != nullptr && options.stop->load(std::memory_order_relaxed);
}

/// Asks again while the node says UNAVAILABLE (it loads, or has just gone).
v1::AttachResponse request_lease(v1::MemoryNode::Stub& stub, const AttachOptions& options,
                                 Clock::time_point end) {
  v1::AttachRequest request;
  request.set_client(options.client);
  request.set_transport(transport_of(options.reads.kind));
  for (;;) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + options.call_timeout);
    v1::AttachResponse response;
    const grpc::Status status = stub.Attach(&context, request, &response);
    if (status.ok()) return response;
    const bool retry = status.error_code() == grpc::StatusCode::UNAVAILABLE &&
                       Clock::now() + kRetryPeriod < end && !stopped(options);
    if (!retry) {
      throw Error("attaching to the memory node at {}: {}", rpc::to_string(options.memory_node),
                  rpc::describe(status));
    }
    std::this_thread::sleep_for(kRetryPeriod);
  }
}

/// The lease id as every way of reading shows it to the node.
transport::GrantLease lease_bytes(const v1::AttachResponse& response,
                                  const AttachOptions& options) {
  transport::GrantLease lease;
  if (response.lease_id().size() != lease.size()) {
    throw Error("the memory node at {} sent a lease id of {} bytes",
                rpc::to_string(options.memory_node), response.lease_id().size());
  }
  std::memcpy(lease.data(), response.lease_id().data(), lease.size());
  return lease;
}

struct Grant {
  Descriptor socket;
  std::vector<Descriptor> regions;
};

Grant request_grant(const v1::AttachResponse& response, const AttachOptions& options) {
  if (response.grant_case() != v1::AttachResponse::kMapped) {
    throw Error("the memory node at {} offers no grant that this client understands",
                rpc::to_string(options.memory_node));
  }
  const std::string& path = response.mapped().socket_path();
  rpc::GrantRequest request;
  request.lease = lease_bytes(response, options);
  Grant grant;
  grant.socket = rpc::connect_unix(path);
  rpc::set_socket_timeout(grant.socket.get(), options.call_timeout);
  rpc::send_message(grant.socket.get(), std::as_bytes(std::span(&request, 1)), {});
  rpc::GrantReply reply;
  grant.regions =
      rpc::receive_message(grant.socket.get(), std::as_writable_bytes(std::span(&reply, 1)));
  if (reply.magic != rpc::kGrantMagic || reply.version != rpc::kGrantVersion) {
    throw Error("unix:{} does not speak this version of the grant exchange", path);
  }
  if (reply.status != 0 ||
      grant.regions.size() != static_cast<std::size_t>(response.regions_size())) {
    throw Error("unix:{} refused the grant ({}, {} of {} descriptors)", path,
                to_string(static_cast<StatusCode>(reply.status)), grant.regions.size(),
                response.regions_size());
  }
  return grant;
}

/// A region must be what the manifest says before anybody reads by the manifest's offsets.
void check_region(const v1::Region& region, std::uint32_t id, std::uint64_t expected) {
  if (region.id() == id && region.bytes() == expected) return;
  throw Error("the memory node serves region {} with {} bytes where its manifest has {} with {}",
              region.id(), region.bytes(), id, expected);
}

void check_regions(const v1::AttachResponse& response, const layout::Manifest& manifest) {
  if (static_cast<std::size_t>(response.regions_size()) != manifest.regions.size()) {
    throw Error("the memory node serves {} regions and its manifest has {}",
                response.regions_size(), manifest.regions.size());
  }
  if (response.node() >= manifest.memory_nodes()) {
    throw Error("the memory node says that it is node {}, and its manifest places the index on {}",
                response.node(), manifest.memory_nodes());
  }
  for (std::uint32_t id = 0; id < manifest.regions.size(); ++id) {
    check_region(response.regions(static_cast<int>(id)), id,
                 manifest.node_bytes(response.node(), id));
  }
}

std::shared_ptr<const transport::RegionSet> map_regions(const v1::AttachResponse& response,
                                                        const Grant& grant,
                                                        const layout::Manifest& manifest) {
  auto regions = std::make_shared<transport::RegionSet>();
  for (std::uint32_t id = 0; id < manifest.regions.size(); ++id) {
    const v1::Region& region = response.regions(static_cast<int>(id));
    regions->push_back(transport::MappedRegion::map_fd(
        grant.regions[id].get(), region.bytes(), transport::Access::read_only, region.offset()));
    layout::decode_region_header(regions->back().bytes(), fmt::format("attached region {}", id));
  }
  return regions;
}

/// A lease with its grant; the node takes it back when the grant's socket closes.
struct Lease {
  HeldLease lease;
  v1::AttachResponse response;
  Grant grant;
};

void give_back(const HeldLease& lease) {
  v1::DetachRequest request;
  request.set_lease_id(lease.id);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + lease.call_timeout);
  v1::DetachResponse ignored;
  (void)lease.stub->Detach(&context, request, &ignored);  // else it ends by itself, later
}

/// Connects, leases, and is granted: what another try may bring when it fails.
Lease take_lease(const AttachOptions& options) {
  const auto end = Clock::now() + options.wait;
  Lease held;
  try {
    rpc::ConnectOptions connect;
    connect.wait = options.wait;
    connect.await_listener = options.await_listener;
    connect.stop = options.stop;
    connect.tls = options.tls;
    held.lease.stub = v1::MemoryNode::NewStub(rpc::connect(options.memory_node, connect));
    held.response = request_lease(*held.lease.stub, options, end);
    held.lease.id = held.response.lease_id();
    held.lease.duration = std::chrono::milliseconds(held.response.lease_ms());
    held.lease.call_timeout = options.call_timeout;
    if (options.reads.kind == ReadPathKind::mapped)
      held.grant = request_grant(held.response, options);
    return held;
  } catch (const rpc::NobodyListens& error) {
    throw search::AbsentError("{}", error.what());
  } catch (const Error& error) {
    if (!held.lease.id.empty()) give_back(held.lease);
    throw search::UnreachableError("{}", error.what());
  }
}

}  // namespace

std::unique_ptr<Attachment> Attachment::attach(const AttachOptions& options) {
  Lease held = take_lease(options);
  std::unique_ptr<Attachment> attachment(new Attachment);
  attachment->liveness_ = std::make_shared<Liveness>();
  held.lease.grant_socket = std::move(held.grant.socket);
  // First: what fails from here on gives the lease back.
  attachment->keeper_ = std::make_unique<LeaseKeeper>(std::move(held.lease), attachment->liveness_);
  attachment->manifest_ =
      layout::manifest_from_json(held.response.manifest_json(), "the memory node's manifest");
  attachment->node_ = held.response.node();
  attachment->generation_ = held.response.generation();
  check_regions(held.response, attachment->manifest_);
  if (options.reads.kind != ReadPathKind::mapped) {
    attachment->open_endpoint_ =
        remote_endpoints(held.response, {options.reads, lease_bytes(held.response, options),
                                         rpc::to_string(options.memory_node), options.call_timeout,
                                         options.tuning, options.cores});
  } else {
    attachment->regions_ = map_regions(held.response, held.grant, attachment->manifest_);
    attachment->open_endpoint_ = [regions = attachment->regions_] {
      return std::make_unique<transport::MappedEndpoint>(regions);
    };
  }
  return attachment;
}

Attachment::~Attachment() = default;

bool Attachment::alive() const {
  return liveness_->alive.load(std::memory_order_relaxed);
}

bool Attachment::draining() const {
  return liveness_->draining.load(std::memory_order_relaxed);
}

bool Attachment::superseded() const {
  const auto newest = liveness_->newest_generation.load(std::memory_order_relaxed);
  return newest != 0 && newest != generation_;
}

void Attachment::give_up() const {
  liveness_->alive.store(false, std::memory_order_relaxed);
}

std::unique_ptr<transport::Endpoint> Attachment::make_endpoint() const {
  return std::make_unique<LiveEndpoint>(open_endpoint_(), liveness_);
}

}  // namespace farvec::tiers
