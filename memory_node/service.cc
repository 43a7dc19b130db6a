#include "memory_node/service.h"

#include <spdlog/spdlog.h>

#include <cstring>
#include <optional>

#include "base/error.h"
#include "base/version.h"
#include "rpc/status.h"
#include "rpc/tls.h"

namespace farvec::memory_node {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;
constexpr std::size_t kMaxClientNameBytes = 200;

std::optional<LeaseId> to_lease_id(const std::string& bytes) {
  LeaseId id;
  if (bytes.size() != id.size()) return std::nullopt;
  std::memcpy(id.data(), bytes.data(), id.size());
  return id;
}

template <typename Response>
void describe_regions(const RegionTable& table, Response& response) {
  for (const Region& region : table.regions) {
    auto* entry = response.add_regions();
    entry->set_id(region.id);
    entry->set_kind(region.kind);
    entry->set_bytes(region.bytes);
  }
  response.set_node(table.node);
  response.set_generation(table.generation);
  response.set_manifest_json(table.manifest_json);
}

grpc::Status no_such_lease() {
  return rpc::to_grpc(StatusCode::not_found, "no such lease: it has expired or was given back");
}

grpc::Status refusal(LeaseTable::Outcome outcome, const std::string& caller) {
  if (outcome == LeaseTable::Outcome::not_held) return no_such_lease();
  spdlog::warn("'{}' asked for a lease that was given to another", caller);
  return {grpc::StatusCode::PERMISSION_DENIED,
          fmt::format("the lease was not given to {}; only its owner may renew it or give it back",
                      caller)};
}

grpc::Status no_such_path(v1::Transport transport) {
  const char* how = transport == v1::TRANSPORT_VERBS ? "RDMA: start it with --rdma HOST"
                    : transport == v1::TRANSPORT_FABRIC
                        ? "libfabric: start it with --fabric PROVIDER"
                        : "transport of this kind";
  return rpc::to_grpc(StatusCode::failed_precondition,
                      fmt::format("the memory node serves no {}", how));
}

}  // namespace

ReadPath* Service::find_path(v1::Transport transport) const {
  for (ReadPath* path : paths_) {
    if (path->transport() == transport) return path;
  }
  return nullptr;
}

/// The lease is given back when it cannot be read by, and when its client has stopped waiting:
/// registering much memory with a device takes longer than some clients have patience.
grpc::Status Service::offer(ReadPath& path, const LeaseId& lease,
                            const grpc::ServerContext& context, v1::AttachResponse& response) {
  try {
    path.offer(lease, response);
  } catch (const Error& error) {
    spdlog::warn("a client got no grant: {}", error.what());
    state_.leases.revoke(lease);
    return rpc::to_grpc(StatusCode::internal, error.what());
  }
  if (!context.IsCancelled()) return grpc::Status::OK;
  state_.leases.revoke(lease);
  path.revoke(lease);
  return rpc::to_grpc(StatusCode::cancelled, "the client stopped waiting for its grant");
}

grpc::Status Service::Describe(grpc::ServerContext*, const v1::DescribeRequest*,
                               v1::DescribeResponse* response) {
  state_.calls.fetch_add(1, kRelaxed);
  response->set_state(state_.state.load(kRelaxed));
  response->set_version(std::string(version()));
  response->set_backing(std::string(to_string(backing_)));
  response->set_loaded_bytes(state_.loaded_bytes.load(kRelaxed));
  response->set_total_bytes(state_.total_bytes.load(kRelaxed));
  if (const auto table = state_.regions.get()) describe_regions(*table, *response);
  return grpc::Status::OK;
}

grpc::Status Service::Attach(grpc::ServerContext* context, const v1::AttachRequest* request,
                             v1::AttachResponse* response) {
  state_.calls.fetch_add(1, kRelaxed);
  if (state_.state.load(kRelaxed) == v1::STATE_DRAINING) {
    return rpc::to_grpc(StatusCode::unavailable, "the memory node is shutting down");
  }
  const auto table = state_.regions.get();
  if (table == nullptr) {
    return rpc::to_grpc(StatusCode::unavailable, "the memory node is still loading its index");
  }
  ReadPath* path = find_path(request->transport());
  if (path == nullptr) return no_such_path(request->transport());
  const std::string caller = rpc::peer_identity(*context->auth_context());
  const auto lease = state_.leases.grant(caller, LeaseTable::Clock::now());
  if (!lease) {
    return rpc::to_grpc(StatusCode::resource_exhausted, "every lease is taken (--max-leases)");
  }
  if (auto status = offer(*path, *lease, *context, *response); !status.ok()) return status;
  response->set_lease_id(lease->data(), lease->size());
  response->set_lease_ms(static_cast<std::uint32_t>(state_.leases.duration().count()));
  describe_regions(*table, *response);
  state_.attaches.fetch_add(1, kRelaxed);
  spdlog::info("attached '{}', {}", request->client().substr(0, kMaxClientNameBytes), caller);
  return grpc::Status::OK;
}

grpc::Status Service::Renew(grpc::ServerContext* context, const v1::RenewRequest* request,
                            v1::RenewResponse* response) {
  state_.calls.fetch_add(1, kRelaxed);
  const auto lease = to_lease_id(request->lease_id());
  if (!lease) return no_such_lease();
  const std::string caller = rpc::peer_identity(*context->auth_context());
  const auto outcome = state_.leases.renew(*lease, caller, LeaseTable::Clock::now());
  if (outcome != LeaseTable::Outcome::done) return refusal(outcome, caller);
  response->set_lease_ms(static_cast<std::uint32_t>(state_.leases.duration().count()));
  response->set_draining(state_.state.load(kRelaxed) == v1::STATE_DRAINING);
  return grpc::Status::OK;
}

grpc::Status Service::Detach(grpc::ServerContext* context, const v1::DetachRequest* request,
                             v1::DetachResponse*) {
  state_.calls.fetch_add(1, kRelaxed);
  const auto lease = to_lease_id(request->lease_id());
  if (!lease) return no_such_lease();
  const std::string caller = rpc::peer_identity(*context->auth_context());
  const auto outcome = state_.leases.give_back(*lease, caller);
  if (outcome != LeaseTable::Outcome::done) return refusal(outcome, caller);
  for (ReadPath* path : paths_) path->revoke(*lease);
  state_.detaches.fetch_add(1, kRelaxed);
  return grpc::Status::OK;
}

grpc::Status Service::Stats(grpc::ServerContext*, const v1::StatsRequest*,
                            v1::StatsResponse* response) {
  state_.calls.fetch_add(1, kRelaxed);
  const auto now = LeaseTable::Clock::now();
  response->set_state(state_.state.load(kRelaxed));
  response->set_uptime_seconds(std::chrono::duration<double>(now - state_.started).count());
  if (const auto table = state_.regions.get()) {
    response->set_load_seconds(table->load_seconds);
    response->set_regions(table->regions.size());
    response->set_region_bytes(table->total_bytes());
  }
  response->set_leases(state_.leases.size());
  response->set_attaches(state_.attaches.load(kRelaxed));
  response->set_detaches(state_.detaches.load(kRelaxed));
  response->set_expirations(state_.leases.expirations());
  return grpc::Status::OK;
}

}  // namespace farvec::memory_node
