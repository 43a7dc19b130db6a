#include "memory_node/service_replies.h"

#include <fmt/format.h>

#include <chrono>
#include <cstring>

#include "memory_node/publisher.h"
#include "rpc/status.h"

namespace farvec::memory_node {
namespace {

constexpr std::size_t kMaxClientNameBytes = 200;

/// Returns the same for a file that is not there, one that is something else, and a damaged one.
grpc::Status refused_file(const std::string& path) {
  return rpc::to_grpc(
      StatusCode::failed_precondition,
      fmt::format("'{}' is not loaded: it cannot be read, or is not what it should be; the memory "
                  "node's log says which; what was published stays",
                  path));
}

}  // namespace

std::optional<LeaseId> to_lease_id(const std::string& bytes) {
  LeaseId id;
  if (bytes.size() != id.size()) return std::nullopt;
  std::memcpy(id.data(), bytes.data(), id.size());
  return id;
}

void describe_lease(const LeaseId& lease, const LeaseTable& leases, v1::AttachResponse& response) {
  response.set_lease_id(lease.data(), lease.size());
  response.set_lease_ms(static_cast<std::uint32_t>(leases.duration().count()));
}

void describe_log(const LogStore& log, const LeaseTable& leases, v1::Log& response) {
  const auto now = LeaseTable::Clock::now();
  response.set_bytes(log.bytes());
  response.set_generation(log.publication()->table->generation);
  response.set_epoch(log.epoch());
  if (const auto end = leases.writer_end(now)) {
    response.set_has_writer(true);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*end - now);
    response.set_writer_lease_ms(static_cast<std::uint64_t>(left.count()));
  }
  response.set_writer_leases_expired(leases.writer_expirations());
}

grpc::Status load_failure(const std::string& path, bool tells) {
  try {
    throw;
  } catch (const LoadStopped&) {
    return rpc::to_grpc(StatusCode::cancelled, "the load was stopped; nothing has changed");
  } catch (const PublisherBusy& busy) {
    return rpc::to_grpc(StatusCode::unavailable, busy.what());
  } catch (const NoRoom& full) {
    return rpc::to_grpc(StatusCode::resource_exhausted, full.what());
  } catch (const RefusedFile&) {
    return refused_file(path);
  } catch (const RefusedIndex& refused) {
    if (!tells) return refused_file(path);
    return rpc::to_grpc(StatusCode::failed_precondition,
                        fmt::format("{}; what was published stays", refused.what()));
  } catch (const std::exception& error) {
    return rpc::to_grpc(StatusCode::failed_precondition,
                        fmt::format("{}; what was published stays", error.what()));
  }
}

grpc::Status no_such_path(v1::Transport transport) {
  const char* how = transport == v1::TRANSPORT_VERBS ? "RDMA: start it with --rdma HOST"
                    : transport == v1::TRANSPORT_FABRIC
                        ? "libfabric: start it with --fabric PROVIDER:HOST"
                        : "transport of this kind";
  return rpc::to_grpc(StatusCode::failed_precondition,
                      fmt::format("the memory node serves no {}", how));
}

std::string shown_name(const v1::AttachRequest& request) {
  return request.client().substr(0, kMaxClientNameBytes);
}

}  // namespace farvec::memory_node
