// A MemoryNodeBackend opens an index in the memory of one or several memory nodes.
#pragma once

#include "compute_node/backends/backend_options.h"
#include "compute_node/service/search_backend.h"
#include "compute_node/sources/memory_node_source.h"
#include "tiers/attach/placed_nodes.h"
#include "tiers/tier_spec.h"

namespace farvec::compute_node {

/// Each opened index has leases of its own, and its codes and offsets are fetched again. The tiers
/// are shm, emulated, verbs and fabric.
class MemoryNodeBackend final : public SearchBackend {
 public:
  /// Throws Error on an address or a tier that it cannot use.
  MemoryNodeBackend(const MemoryNodeSource& source, const BackendOptions& options);
  std::string target() const override { return "memory node " + source_.nodes; }
  std::unique_ptr<SearchSession> open(std::chrono::milliseconds bound,
                                      const std::atomic<bool>& stop) override;

 private:
  tiers::PlacedNodesOptions set_options() const;
  std::shared_ptr<tiers::PlacedNodes> attach(std::chrono::milliseconds bound,
                                             const std::atomic<bool>& stop);

  const MemoryNodeSource source_;
  const search::SearchShape largest_;
  const std::vector<rpc::Address> addresses_;
  const std::shared_ptr<const rpc::Tls> tls_;
  const tiers::TierSpecPointer tier_;
  /// What earlier attempts have attached of an index that is not open yet.
  std::shared_ptr<tiers::PlacedNodes> set_;
};

}  // namespace farvec::compute_node
