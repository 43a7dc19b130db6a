// This file has Service::AttachLog: leases on the node's log.
#include <spdlog/spdlog.h>

#include <chrono>
#include <optional>

#include "memory_node/service.h"
#include "memory_node/service_replies.h"
#include "rpc/status.h"
#include "rpc/tls.h"

namespace farvec::memory_node {
namespace {

using LogClock = LeaseTable::Clock;

/// Says why there is no lease on the log for a client.
grpc::Status no_log_lease(const LeaseTable& leases, bool writes) {
  if (!writes) {
    return rpc::to_grpc(StatusCode::resource_exhausted, "every lease is taken (--max-leases)");
  }
  const auto now = LogClock::now();
  const auto end = leases.writer_end(now).value_or(now);
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - now);
  return rpc::to_grpc(StatusCode::resource_exhausted,
                      fmt::format("the log has a writer; its lease runs for another {} ms unless "
                                  "it is renewed, and there is one writer at a time",
                                  left.count()));
}

}  // namespace

grpc::Status Service::check_log_request(const grpc::ServerContext& context,
                                        const v1::AttachLogRequest& request) const {
  if (state_.state.load(kRelaxed) == v1::STATE_DRAINING) {
    return rpc::to_grpc(StatusCode::unavailable, "the memory node is shutting down");
  }
  if (!options_.has_log) {
    return rpc::to_grpc(StatusCode::failed_precondition,
                        "the memory node has no log: start it with --log-bytes SIZE");
  }
  if (state_.log.get() == nullptr) {
    return rpc::to_grpc(StatusCode::unavailable, "the memory node is still starting");
  }
  if (request.access() != v1::LOG_READ && request.access() != v1::LOG_WRITE) {
    return rpc::to_grpc(StatusCode::invalid_argument, "access: neither reading nor writing");
  }
  if (request.epoch_above() > LogStore::kMaxAskedEpoch) {
    return rpc::to_grpc(StatusCode::invalid_argument, "epoch_above: at most 2^62");
  }
  if (request.access() == v1::LOG_WRITE) return check_publisher(context, "write the log");
  return grpc::Status::OK;
}

grpc::Status Service::AttachLog(grpc::ServerContext* context, const v1::AttachLogRequest* request,
                                v1::AttachLogResponse* response) {
  state_.calls.fetch_add(1, kRelaxed);
  if (auto status = check_log_request(*context, *request); !status.ok()) return status;
  const auto log = state_.log.get();
  const bool writes = request->access() == v1::LOG_WRITE;
  const v1::Transport transport = request->client().transport();
  ReadPath* path = log->publication()->find_path(transport);
  if (path == nullptr) return no_such_path(transport);
  const std::string caller = rpc::peer_identity(*context->auth_context());
  const auto holder = writes ? log->grant_writer(caller, request->epoch_above())
                             : log->grant_reader(caller, to_lease_id(request->writer_lease()));
  if (!holder) return no_log_lease(state_.leases, writes);
  v1::AttachResponse& attached = *response->mutable_attached();
  if (auto status = offer(*path, holder->lease, *context, attached); !status.ok()) return status;
  describe_lease(holder->lease, state_.leases, attached);
  describe_regions(*log->publication()->table, attached);
  response->set_epoch(holder->epoch);
  state_.attaches.fetch_add(1, kRelaxed);
  spdlog::info("attached '{}' to the log for {}, {}", shown_name(request->client()),
               writes ? fmt::format("writing, epoch {}", holder->epoch) : "reading", caller);
  return grpc::Status::OK;
}

}  // namespace farvec::memory_node
