// NodeState holds what a memory node knows of itself.
#pragma once

#include <atomic>
#include <cstdint>

#include "memory_node/lease_table.h"
#include "memory_node/log_store.h"
#include "memory_node/publication.h"
#include "rpc/memory_node.pb.h"

namespace farvec::memory_node {

inline constexpr auto kRelaxed = std::memory_order_relaxed;

/// A NodeState is shared by the service, the metrics and the daemon's main thread. Every field may
/// be read and written by any thread. The atomics are independent of each other, and therefore
/// relaxed everywhere.
struct NodeState {
  NodeState(std::size_t max_leases, std::chrono::milliseconds lease) : leases(max_leases, lease) {}
  ~NodeState() { leases.revoke_all(); }
  NodeState(const NodeState&) = delete;
  NodeState& operator=(const NodeState&) = delete;

  std::atomic<v1::State> state{v1::STATE_LOADING};
  std::atomic<std::uint64_t> loaded_bytes{0};
  std::atomic<std::uint64_t> total_bytes{0};
  /// Bytes of the published index: all that was loaded; for an attached index, the bytes that were
  /// read through since.
  std::atomic<std::uint64_t> verified_bytes{0};
  std::atomic<std::uint64_t> attaches{0};
  std::atomic<std::uint64_t> detaches{0};
  std::atomic<std::uint64_t> calls{0};
  /// Attached indexes that were found damaged: some of their bytes are not those that were stored.
  std::atomic<std::uint64_t> damaged{0};
  LeaseTable leases;
  Publications publications;  ///< ends before the leases, which its paths ask for
  LogSlot log;                ///< ends before the leases too
  const LeaseTable::Clock::time_point started = LeaseTable::Clock::now();
};

}  // namespace farvec::memory_node
