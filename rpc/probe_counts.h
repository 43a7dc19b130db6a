// How often a compute node has probed each cluster, asked by whoever groups by it.
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
  std::optional<std::uint64_t> segment = std::nullopt;  ///< of the collection that it serves
  std::chrono::milliseconds wait{10'000};               ///< for a connection, and for the answer
  std::shared_ptr<const Tls> tls = nullptr;
};

/// Throws Error naming the node, also when nobody listens there.
compute_node::v1::ProbeCountsResponse ask_probe_counts(const Address& node,
                                                       const ProbeCountsCall& call);

}  // namespace farvec::rpc
