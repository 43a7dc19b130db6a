// ask_probe_counts() asks a compute node how often it has probed each cluster, for grouping by
// these counts.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "rpc/address.h"
#include "rpc/compute_node.pb.h"
#include "rpc/tls.h"

namespace farvec::rpc {

struct ProbeCountsCall {
  /// A segment of the collection that the node serves.
  std::optional<std::uint64_t> segment = std::nullopt;
  /// Limit for a connection, and for the answer.
  std::chrono::milliseconds wait{10'000};
  std::shared_ptr<const Tls> tls = nullptr;
};

/// Throws Error naming the node, also when nothing listens there.
compute_node::v1::ProbeCountsResponse ask_probe_counts(const Address& node,
                                                       const ProbeCountsCall& call);

}  // namespace farvec::rpc
