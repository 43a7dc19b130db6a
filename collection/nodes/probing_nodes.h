// Compute nodes that search the same clusters, asked how often they have probed each.
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

/// What one node has counted. Throws as rpc::ask_probe_counts().
search::ProbeTally ask_probes(const rpc::Address& node, const rpc::ProbeCountsCall& call);

/// Immutable; shared by threads.
class ProbingNodes {
 public:
  /// Each of them is waited for so long.
  ProbingNodes(std::vector<rpc::Address> nodes, std::chrono::milliseconds patience,
               std::shared_ptr<const rpc::Tls> tls)
      : nodes_(std::move(nodes)), patience_(patience), tls_(std::move(tls)) {}

  /// Adds to `sum` what each of them has counted since it opened the index, or the segment of the
  /// collection, that `sum` is of. One that does not answer in time, or serves something else, adds
  /// nothing, and the log says so. Asks them one after the other, and ends between two of them once
  /// `interrupted` returns true.
  void add_probes(std::optional<std::uint64_t> segment, search::ProbeTally& sum,
                  const std::function<bool()>& interrupted) const;

 private:
  const std::vector<rpc::Address> nodes_;
  const std::chrono::milliseconds patience_;
  const std::shared_ptr<const rpc::Tls> tls_;
};

}  // namespace farvec::collection
