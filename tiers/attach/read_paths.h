// These functions turn the answer to an attach call into makers of endpoints and writers.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "rpc/memory_node.pb.h"
#include "transport/endpoint.h"
#include "transport/grant.h"
#include "transport/region_writer.h"
#include "transport/verbs/tuning.h"
#include "transport/verbs/verbs_device.h"

namespace farvec::tiers {

/// Makes the endpoint of one core. It may be called from any thread.
using EndpointMaker = std::function<std::unique_ptr<transport::Endpoint>()>;

/// Makes a writer, see LogAttachment. It may be called from any thread.
using WriterMaker = std::function<std::unique_ptr<transport::RegionWriter>()>;

enum class ReadPathKind : std::uint8_t { mapped = 0, verbs = 1, fabric = 2 };

/// Returns "mapped", "verbs" or "fabric".
std::string_view to_string(ReadPathKind kind);

/// How a memory node's regions are read, and its log is written: mapped on the node's own machine,
/// or through a device.
struct ReadPath {
  ReadPathKind kind = ReadPathKind::mapped;
  std::string provider = {};           ///< for fabric, in libfabric's words: "tcp", "verbs;ofi_rxm"
  transport::VerbsDevice device = {};  ///< for verbs
};

/// Returns what to ask a memory node for.
memory_node::v1::Transport transport_of(ReadPathKind kind);

struct RemoteReads {
  const ReadPath& path;  ///< not mapped
  transport::GrantLease lease{};
  std::string node;  ///< for messages
  std::chrono::milliseconds connect_timeout{0};
  transport::VerbsTuning tuning;  ///< for verbs
  std::uint32_t cores = 1;        ///< cores that share the device's budget of reads
};

/// Returns how many reads one of `cores` may have outstanding. Throws Error when it is less than
/// one.
std::uint32_t reads_per_core(std::uint32_t budget, std::uint32_t cores);

/// Returns a maker that connects on each call, and throws UnreachableError when it cannot. Throws
/// Error now when the answer holds no grant for the tier.
EndpointMaker remote_endpoints(const memory_node::v1::AttachResponse& response,
                               const RemoteReads& reads);

/// Does the same for writers, from the answer to a lease for writing.
WriterMaker remote_writers(const memory_node::v1::AttachResponse& response,
                           const RemoteReads& reads);

}  // namespace farvec::tiers
