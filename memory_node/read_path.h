// The ways in which clients read one table's regions, or write them; one interface for all
// listeners.
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
  /// is for that. Throws Error when it cannot be granted; nothing is left behind then.
  virtual void offer(const LeaseId& lease, v1::AttachResponse& response) = 0;
  /// The lease was given back: its reads and writes fail once this returns. A lease that has
  /// expired is found by the path itself.
  virtual void revoke(const LeaseId& lease) = 0;
};

/// Clients of this machine map the regions: GrantServer serves the socket, and a lease ends with
/// its connection there.
std::unique_ptr<ReadPath> mapped_read_path(std::string socket_path);

/// What the paths over a network stand on. The table and the leases must outlive them.
struct ReadPathInputs {
  const RegionTable& table;
  const LeaseTable& leases;
  std::size_t max_leases = 0;
  std::size_t connections_per_lease = 0;
  /// Leases for writing may fill the table's regions: those of a log, which are not sealed.
  bool writable = false;
};

/// How many RDMA connections a lease may have when nobody says: clients have one per core and
/// replace some while the node still counts the old ones, and their machines are thought to have as
/// many processors as this one; never less than 64.
std::size_t default_connections_per_lease(std::size_t processors);

/// RDMA connections to `host`, see VerbsListener. Throws Error.
std::unique_ptr<ReadPath> verbs_read_path(const ReadPathInputs& inputs, const std::string& host,
                                          std::uint16_t port);

/// Endpoints of libfabric's provider, "PROVIDER:HOST" or "PROVIDER", see FabricListener. Throws
/// Error.
std::unique_ptr<ReadPath> fabric_read_path(const ReadPathInputs& inputs, const std::string& spec);

/// How a node's clients come to its regions, see DaemonOptions.
struct PathOptions {
  std::string grant_path;
  std::string rdma;  ///< empty: none
  std::uint16_t rdma_port = 0;
  std::string fabric;  ///< empty: none
  std::size_t max_leases = 64;
  std::size_t connections_per_lease = 64;
};

/// All of them, for one table; its port for RDMA is `rdma_port` and not that of the options. Throws
/// Error.
std::vector<std::unique_ptr<ReadPath>> open_read_paths(const PathOptions& options,
                                                       const ReadPathInputs& inputs,
                                                       std::uint16_t rdma_port);

/// Throws now what fabric_read_path() would throw for its second argument after a long load.
void check_fabric(const std::string& spec);

}  // namespace farvec::memory_node
