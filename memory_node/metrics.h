// Metrics serve the node's counters to Prometheus.
#pragma once

#include <memory>
#include <string>

#include "memory_node/node_state.h"

namespace farvec::memory_node {

/// Serves http://ADDRESS/metrics until destroyed. The values are read at each request.
class Metrics {
 public:
  /// `state` is borrowed. Throws Error when `address` can be reached from other machines and
  /// `insecure` is not set, or when it is in use.
  Metrics(const std::string& address, bool insecure, const NodeState& state);
  ~Metrics();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace farvec::memory_node
