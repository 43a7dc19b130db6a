#include "collection/nodes/probing_nodes.h"

#include <spdlog/spdlog.h>

#include "base/error.h"

namespace farvec::collection {

search::ProbeTally ask_probes(const rpc::Address& node, const rpc::ProbeCountsCall& call) {
  const auto response = rpc::ask_probe_counts(node, call);
  return {response.dataset(),
          response.centroids_xxh3(),
          {response.counts().begin(), response.counts().end()}};
}

void ProbingNodes::add_probes(std::optional<std::uint64_t> segment, search::ProbeTally& sum,
                              const std::function<bool()>& interrupted) const {
  for (const rpc::Address& node : nodes_) {
    if (interrupted()) return;
    try {
      search::add_probes(ask_probes(node, {segment, patience_, tls_}), rpc::to_string(node), sum);
    } catch (const Error& error) {
      spdlog::warn("clusters are grouped without the probes of a node: {}", error.what());
    }
  }
}

}  // namespace farvec::collection
