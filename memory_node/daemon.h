// A memory node's life: listen, load, serve, drain.
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
  std::uint32_t node = 0;       ///< of the index's placement
  BackingOptions backing;       ///< of index and log
  std::uint64_t log_bytes = 0;  ///< 0: no log
  /// Of segments of collections that writers have it load; 0: it holds none.
  std::uint64_t segment_bytes = 0;
  /// Below which callers may have files loaded; empty: that of `index`, see ServiceOptions.
  std::vector<std::string> load_from;
  rpc::Address listen;
  std::string grant_path;       ///< empty: default_grant_path(listen)
  std::string rdma;             ///< address of an RDMA device of this machine; empty: no RDMA
  std::uint16_t rdma_port = 0;  ///< 0: the system's choice
  std::string fabric;           ///< libfabric's "PROVIDER:HOST" or "PROVIDER"; empty: none
  std::string metrics = "off";  ///< "HOST:PORT" or "off"
  bool insecure = false;
  rpc::TlsFiles tls;  ///< of the control plane over TCP
  /// Names in the certificates of those who may publish over TLS, see ServiceOptions.
  std::vector<std::string> publishers;
  bool quiet = false;
  unsigned threads = 0;  ///< that load; 0: one per processor
  std::size_t max_leases = 64;
  /// Over RDMA; 0: default_connections_per_lease() of this machine.
  std::size_t connections_per_lease = 0;
  std::chrono::milliseconds lease{10'000};
  std::chrono::milliseconds drain{10'000};
};

/// Beside a Unix listen socket ("PATH.grant"), else in $XDG_RUNTIME_DIR or /tmp under a name that
/// holds user and port.
std::string default_grant_path(const rpc::Address& listen);

/// Runs until `stop` becomes true, then drains. Returns early, without an error, when the stop
/// comes during loading. Throws Error before serving when the node cannot start.
void run_daemon(const DaemonOptions& options, const std::atomic<bool>& stop);

}  // namespace farvec::memory_node
