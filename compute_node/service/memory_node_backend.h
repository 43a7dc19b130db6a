// An index in a memory node's memory.
#pragma once

#include "compute_node/service/daemon_options.h"
#include "compute_node/service/search_backend.h"
#include "rpc/address.h"
#include "transport/tier.h"

namespace farvec::compute_node {

/// Each open() is a new attachment: a lease of its own, codes and offsets fetched again. Tiers:
/// shm, emulated, verbs, fabric.
class MemoryNodeBackend final : public SearchBackend {
 public:
  /// Throws Error on an address or a tier that it cannot use.
  explicit MemoryNodeBackend(const DaemonOptions& options);
  std::string target() const override { return "memory node " + options_.memory_node; }
  std::unique_ptr<SearchSession> open(std::chrono::milliseconds bound,
                                      const std::atomic<bool>& stop) override;

 private:
  const DaemonOptions options_;
  const rpc::Address address_;
  const std::shared_ptr<const rpc::Tls> tls_;
  transport::TierSpec tier_;
};

}  // namespace farvec::compute_node
