#include "memory_node/service.h"

#include <spdlog/spdlog.h>

#include <chrono>
#include <filesystem>

#include "base/error.h"
#include "base/version.h"
#include "memory_node/service_replies.h"
#include "rpc/address.h"
#include "rpc/entitled.h"
#include "rpc/status.h"
#include "rpc/tls.h"

namespace farvec::memory_node {
namespace {

/// A client that died before it showed its lease for the descriptors holds it no longer than this.
constexpr std::chrono::seconds kGrantPatience{5};

grpc::Status no_such_lease() {
  return rpc::to_grpc(StatusCode::not_found, "no such lease: it has expired or was given back");
}

grpc::Status not_absolute(const std::string& path) {
  return rpc::to_grpc(StatusCode::invalid_argument,
                      fmt::format("'{}' is not an absolute path", path));
}

grpc::Status refusal(LeaseTable::Outcome outcome, const std::string& caller) {
  if (outcome == LeaseTable::Outcome::not_held) return no_such_lease();
  spdlog::warn("'{}' asked for a lease that was given to another", caller);
  return rpc::to_grpc(
      StatusCode::permission_denied,
      fmt::format("the lease was not given to {}; only its owner may renew it or give it back",
                  caller));
}

}  // namespace

/// Takes the lease back when its holder cannot read with it, and when the client has stopped
/// waiting: registering much memory with a device takes longer than some clients are willing to
/// wait.
grpc::Status Service::offer(ReadPath& path, const LeaseId& lease,
                            const grpc::ServerContext& context, v1::AttachResponse& response) {
  try {
    path.offer(lease, response);
  } catch (const Error& error) {
    spdlog::warn("a client got no grant: {}", error.what());
    state_.leases.revoke(lease);
    return rpc::to_grpc(StatusCode::internal, error.what());
  }
  if (!context.IsCancelled()) {
    if (path.transport() == v1::TRANSPORT_MAPPED) {
      state_.leases.end_by(lease, LeaseTable::Clock::now() + kGrantPatience);
    }
    return grpc::Status::OK;
  }
  state_.leases.revoke(lease);
  path.revoke(lease);
  return rpc::to_grpc(StatusCode::cancelled, "the client stopped waiting for its grant");
}

grpc::Status Service::Describe(grpc::ServerContext*, const v1::DescribeRequest*,
                               v1::DescribeResponse* response) {
  state_.calls.fetch_add(1, kRelaxed);
  response->set_state(state_.state.load(kRelaxed));
  response->set_version(std::string(version()));
  response->set_backing(std::string(to_string(options_.backing)));
  response->set_loaded_bytes(state_.loaded_bytes.load(kRelaxed));
  response->set_total_bytes(state_.total_bytes.load(kRelaxed));
  response->set_verified_bytes(state_.verified_bytes.load(kRelaxed));
  if (const auto now = state_.publications.current()) describe_regions(*now->table, *response);
  if (const auto log = state_.log.get())
    describe_log(*log, state_.leases, *response->mutable_log());
  return grpc::Status::OK;
}

grpc::Status Service::Attach(grpc::ServerContext* context, const v1::AttachRequest* request,
                             v1::AttachResponse* response) {
  state_.calls.fetch_add(1, kRelaxed);
  if (state_.state.load(kRelaxed) == v1::STATE_DRAINING) {
    return rpc::to_grpc(StatusCode::unavailable, "the memory node is shutting down");
  }
  const auto publication = state_.publications.current();
  if (publication == nullptr && state_.state.load(kRelaxed) == v1::STATE_SERVING) {
    return rpc::to_grpc(StatusCode::failed_precondition,
                        "the memory node serves no index: start it with --index, or publish one");
  }
  if (publication == nullptr) {
    return rpc::to_grpc(StatusCode::unavailable, "the memory node is still loading its index");
  }
  if (!publication->table->file_checksums.empty() && !request->takes_files()) {
    return rpc::to_grpc(StatusCode::failed_precondition,
                        "the rows of the index have attributes, of which this reader knows "
                        "nothing: it runs an older farvec than the memory node");
  }
  return lease(publication, *request, *context, *response);
}

grpc::Status Service::lease(const std::shared_ptr<const Publication>& publication,
                            const v1::AttachRequest& request, const grpc::ServerContext& context,
                            v1::AttachResponse& response) {
  ReadPath* path = publication->find_path(request.transport());
  if (path == nullptr) return no_such_path(request.transport());
  const std::string caller = rpc::peer_identity(*context.auth_context());
  const auto lease =
      state_.leases.grant(caller, LeaseTable::Clock::now(), LeaseKind::read, publication);
  if (!lease) {
    return rpc::to_grpc(StatusCode::resource_exhausted, "every lease is taken (--max-leases)");
  }
  if (auto status = offer(*path, *lease, context, response); !status.ok()) return status;
  describe_lease(*lease, state_.leases, response);
  describe_regions(*publication->table, response);
  state_.attaches.fetch_add(1, kRelaxed);
  spdlog::info("attached '{}', {}", shown_name(request), caller);
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
  // A segment is never superseded, because another one has another name.
  const auto reads = state_.leases.reads(*lease);
  const auto newest = reads != nullptr && reads->segment ? reads : state_.publications.current();
  if (newest != nullptr) response->set_newest_generation(newest->table->generation);
  return grpc::Status::OK;
}

grpc::Status Service::Detach(grpc::ServerContext* context, const v1::DetachRequest* request,
                             v1::DetachResponse*) {
  state_.calls.fetch_add(1, kRelaxed);
  const auto lease = to_lease_id(request->lease_id());
  if (!lease) return no_such_lease();
  const std::string caller = rpc::peer_identity(*context->auth_context());
  const auto reads = state_.leases.reads(*lease);
  const auto outcome = state_.leases.give_back(*lease, caller);
  if (outcome != LeaseTable::Outcome::done) return refusal(outcome, caller);
  if (reads != nullptr) {
    for (const auto& path : reads->paths) path->revoke(*lease);
  }
  state_.detaches.fetch_add(1, kRelaxed);
  return grpc::Status::OK;
}

grpc::Status Service::Stats(grpc::ServerContext*, const v1::StatsRequest*,
                            v1::StatsResponse* response) {
  state_.calls.fetch_add(1, kRelaxed);
  const auto now = LeaseTable::Clock::now();
  response->set_state(state_.state.load(kRelaxed));
  response->set_uptime_seconds(std::chrono::duration<double>(now - state_.started).count());
  if (const auto published = state_.publications.current()) {
    response->set_load_seconds(published->table->load_seconds);
    response->set_regions(published->table->regions.size());
    response->set_region_bytes(published->table->total_bytes());
  }
  const Publications::Usage usage = state_.publications.usage();
  response->set_tables(usage.tables);
  response->set_table_bytes(usage.bytes);
  response->set_publications(usage.published);
  response->set_leases(state_.leases.size());
  response->set_attaches(state_.attaches.load(kRelaxed));
  response->set_detaches(state_.detaches.load(kRelaxed));
  response->set_expirations(state_.leases.expirations());
  if (const auto log = state_.log.get())
    describe_log(*log, state_.leases, *response->mutable_log());
  if (options_.segment_bytes > 0) {
    response->mutable_segments()->set_count(usage.segments);
    response->mutable_segments()->set_bytes(usage.segment_bytes);
    response->mutable_segments()->set_most_bytes(options_.segment_bytes);
  }
  return grpc::Status::OK;
}

grpc::Status Service::check_publisher(const grpc::ServerContext& context,
                                      const std::string& act) const {
  if (rpc::is_entitled(context, options_.publishers)) return grpc::Status::OK;
  return rpc::not_entitled(context, act, "--publisher");
}

grpc::Status Service::check_load(const grpc::ServerContext& context, std::string& index,
                                 std::span<HeldFile> files) const {
  if (auto status = check_publisher(context); !status.ok()) return status;
  if (!index.empty() || files.empty()) {
    if (auto status = check_index(context, index); !status.ok()) return status;
  }
  for (HeldFile& file : files) {
    if (auto status = check_file(context, file); !status.ok()) return status;
  }
  if (state_.state.load(kRelaxed) != v1::STATE_SERVING) {
    return rpc::to_grpc(StatusCode::unavailable, "the memory node is not serving");
  }
  return grpc::Status::OK;
}

bool Service::may_name_any(const grpc::ServerContext& context) const {
  return !options_.folders_named && rpc::is_unix_peer(context.peer());
}

grpc::Status Service::check_index(const grpc::ServerContext& context, std::string& index) const {
  if (!std::filesystem::path(index).is_absolute()) return not_absolute(index);
  if (may_name_any(context)) return grpc::Status::OK;
  auto found = options_.folders.find_directory(index);
  if (!found) return in_no_folder(context, index);
  index = std::move(*found);
  return grpc::Status::OK;
}

grpc::Status Service::check_file(const grpc::ServerContext& context, HeldFile& file) const {
  if (!std::filesystem::path(file.path).is_absolute()) return not_absolute(file.path);
  if (may_name_any(context)) return grpc::Status::OK;
  auto found = options_.folders.find(file.path);
  if (!found) return in_no_folder(context, file.path);
  file.path = std::move(*found);
  file.is_resolved = true;
  return grpc::Status::OK;
}

/// The answer is the same whether the file is there or not.
grpc::Status Service::in_no_folder(const grpc::ServerContext& context,
                                   const std::string& path) const {
  spdlog::warn("'{}' wanted '{}' loaded, which lies below no folder of --load-from",
               rpc::peer_identity(*context.auth_context()), path);
  return rpc::to_grpc(
      StatusCode::permission_denied,
      fmt::format("'{}' is in no folder that this memory node loads from: name its folder with "
                  "--load-from when you start the node",
                  path));
}

grpc::Status Service::Load(grpc::ServerContext* context, const v1::LoadRequest* request,
                           v1::LoadResponse* response) {
  state_.calls.fetch_add(1, kRelaxed);
  const std::string caller = rpc::peer_identity(*context->auth_context());
  std::string index = request->index();
  if (auto status = check_load(*context, index, {}); !status.ok()) return status;
  try {
    const auto table = publisher_.publish(index, [context] { return context->IsCancelled(); });
    response->set_generation(table->generation);
    response->set_region_bytes(table->total_bytes());
    response->set_load_seconds(table->load_seconds);
    return grpc::Status::OK;
  } catch (const std::exception& error) {
    spdlog::warn("'{}' wanted {} published: {}", caller, request->index(), error.what());
    return load_failure(request->index(), rpc::is_unix_peer(context->peer()));
  }
}

}  // namespace farvec::memory_node
