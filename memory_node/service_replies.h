// These functions make the answers that several calls of the control plane have in common.
#pragma once

#include <grpcpp/grpcpp.h>

#include <optional>
#include <string>

#include "memory_node/lease_table.h"
#include "memory_node/log_store.h"
#include "memory_node/region_table.h"
#include "rpc/memory_node.pb.h"

namespace farvec::memory_node {

template <typename Response>
void describe_regions(const RegionTable& table, Response& response) {
  for (const Region& region : table.regions) {
    auto* entry = response.add_regions();
    entry->set_id(region.id);
    entry->set_kind(region.kind);
    entry->set_bytes(region.bytes);
    entry->set_offset(region.backing->descriptor_offset());
  }
  response.set_node(table.node);
  response.set_generation(table.generation);
  response.set_manifest_json(table.manifest_json);
}

/// Returns nothing when these bytes are not a lease id.
std::optional<LeaseId> to_lease_id(const std::string& bytes);

/// Writes the id and the duration.
void describe_lease(const LeaseId& lease, const LeaseTable& leases, v1::AttachResponse& response);

void describe_log(const LogStore& log, const LeaseTable& leases, v1::Log& response);

/// Returns the status of a load that failed; it is called while the exception is handled. `path` is
/// in the caller's form. The status tells nothing of a file that was refused, and tells only with
/// `tells` what is wrong with a directory that holds no index.
grpc::Status load_failure(const std::string& path, bool tells);

/// Returns the status for a way of reading that the node does not serve.
grpc::Status no_such_path(v1::Transport transport);

/// Returns the client's name for the log, cut where it is too long.
std::string shown_name(const v1::AttachRequest& request);

}  // namespace farvec::memory_node
