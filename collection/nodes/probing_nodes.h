// ProbingNodes are compute nodes that search the same clusters; they are asked how often they have
// probed each.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "rpc/address.h"
#include "rpc/probe_counts.h"
#include "rpc/tls.h"
#include "search/searchers/probe_counts.h"

namespace farvec::collection {

/// Returns what one node has counted. Throws what rpc::ask_probe_counts() throws.
search::ProbeTally ask_probes(const rpc::Address& node, const rpc::ProbeCountsCall& call);

/// Immutable; threads share it.
class ProbingNodes {
 public:
  /// `patience` bounds the wait for each node.
  ProbingNodes(std::vector<rpc::Address> nodes, std::chrono::milliseconds patience,
               std::shared_ptr<const rpc::Tls> tls)
      : nodes_(std::move(nodes)), patience_(patience), tls_(std::move(tls)) {}

  /// Adds to `sum` what each node has counted since it opened the same index, or the same segment
  /// of the collection. A node that does not answer in time, or serves something else, adds
  /// nothing, and the log says so. Asks the nodes one after the other, and ends between two of them
  /// once `interrupted` returns true.
  void add_probes(std::optional<std::uint64_t> segment, search::ProbeTally& sum,
                  const std::function<bool()>& interrupted) const;

 private:
  const std::vector<rpc::Address> nodes_;
  const std::chrono::milliseconds patience_;
  const std::shared_ptr<const rpc::Tls> tls_;
};

}  // namespace farvec::collection
