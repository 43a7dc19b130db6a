// run_daemon() is a memory node's life: it listens, loads, serves and drains.
#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include "memory_node/backing/backing.h"
#include "rpc/address.h"
#include "rpc/tls.h"

namespace farvec::memory_node {

struct DaemonOptions {
  std::string index;            ///< directory; empty: none, or the newest one of a device
  std::uint32_t node = 0;       ///< this node's number in the index's placement
  BackingOptions backing;       ///< for index and log
  std::uint64_t log_bytes = 0;  ///< 0: no log
  /// Room for segments of collections that writers have it load; 0: it holds none.
  std::uint64_t segment_bytes = 0;
  /// Callers may have files loaded that are below these folders; empty: the folder of `index`, see
  /// ServiceOptions.
  std::vector<std::string> load_from;
  rpc::Address listen;
  std::string grant_path;       ///< empty: default_grant_path(listen)
  std::string rdma;             ///< address of an RDMA device of this machine; empty: no RDMA
  std::uint16_t rdma_port = 0;  ///< 0: the system's choice
  std::string fabric;           ///< libfabric's "PROVIDER:HOST" or "PROVIDER"; empty: none
  std::string metrics = "off";  ///< "HOST:PORT" or "off"
  bool insecure = false;
  rpc::TlsFiles tls;  ///< for the control plane over TCP
  /// The names in the certificates of those who may publish over TLS, see ServiceOptions.
  std::vector<std::string> publishers;
  bool quiet = false;
  unsigned threads = 0;  ///< threads that load; 0: one per processor
  std::size_t max_leases = 64;
  /// for RDMA; 0: default_connections_per_lease() of this machine
  std::size_t connections_per_lease = 0;
  std::chrono::milliseconds lease{10'000};
  std::chrono::milliseconds drain{10'000};
};

/// Returns a path beside a Unix listen socket ("PATH.grant"), else in $XDG_RUNTIME_DIR or /tmp
/// under a name that contains user and port.
std::string default_grant_path(const rpc::Address& listen);

/// Runs until `stop` becomes true, then drains. Returns early, without an error, when the stop
/// comes during loading. Throws Error before serving when the node cannot start.
void run_daemon(const DaemonOptions& options, const std::atomic<bool>& stop);

}  // namespace farvec::memory_node
