// A ReadPath is a way in which clients read one table's regions, or write them; all listeners have
// this one interface.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "memory_node/lease_table.h"
#include "memory_node/region_table.h"
#include "rpc/memory_node.pb.h"

namespace farvec::memory_node {

/// Members may be called from any thread.
class ReadPath {
 public:
  virtual ~ReadPath() = default;
  ReadPath() = default;
  ReadPath(const ReadPath&) = delete;
  ReadPath& operator=(const ReadPath&) = delete;

  virtual v1::Transport transport() const = 0;
  /// Writes into the answer what the lease's holder has to know to read, or to write when the lease
  /// is for that. Throws Error when it cannot be granted; then the path keeps nothing of it.
  virtual void offer(const LeaseId& lease, v1::AttachResponse& response) = 0;
  /// The lease was given back: its reads and writes fail once this returns. The path itself finds a
  /// lease that has expired.
  virtual void revoke(const LeaseId& lease) = 0;
};

/// Clients of this machine map the regions: GrantServer serves the socket, and a lease ends with
/// its connection there.
std::unique_ptr<ReadPath> mapped_read_path(std::string socket_path);

/// ReadPathInputs are what the paths over a network need. The table and the leases must outlive
/// them.
struct ReadPathInputs {
  const RegionTable& table;
  const LeaseTable& leases;
  std::size_t max_leases = 0;
  std::size_t connections_per_lease = 0;
  /// Leases for writing may fill the table's regions: these belong to a log, and are not sealed.
  bool writable = false;
};

/// Returns how many RDMA connections a lease may have when no option says it. Clients have one per
/// core, and replace some while the node still counts the old ones. Their machines are assumed to
/// have as many processors as this one. It is never less than 64.
std::size_t default_connections_per_lease(std::size_t processors);

/// Accepts RDMA connections to `host`, see VerbsListener. Throws Error.
std::unique_ptr<ReadPath> verbs_read_path(const ReadPathInputs& inputs, const std::string& host,
                                          std::uint16_t port);

/// Accepts endpoints of libfabric's provider, "PROVIDER:HOST" or "PROVIDER", see FabricListener.
/// Throws Error.
std::unique_ptr<ReadPath> fabric_read_path(const ReadPathInputs& inputs, const std::string& spec);

/// PathOptions say how a node's clients reach its regions, see DaemonOptions.
struct PathOptions {
  std::string grant_path;
  std::string rdma;  ///< empty: none
  std::uint16_t rdma_port = 0;
  std::string fabric;  ///< empty: none
  std::size_t max_leases = 64;
  std::size_t connections_per_lease = 64;
};

/// Opens all of them for one table. Its port for RDMA is `rdma_port` and not that of the options.
/// Throws Error.
std::vector<std::unique_ptr<ReadPath>> open_read_paths(const PathOptions& options,
                                                       const ReadPathInputs& inputs,
                                                       std::uint16_t rdma_port);

/// Throws now what fabric_read_path() would throw for its second argument after a long load.
void check_fabric(const std::string& spec);

}  // namespace farvec::memory_node
