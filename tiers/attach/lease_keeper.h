// Keeps a lease alive, and notices when the other side has gone.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "rpc/memory_node.grpc.pb.h"
#include "rpc/unix_socket.h"

namespace farvec::tiers {

/// Shared by the keeper (writes) and the endpoints of all cores (read).
struct Liveness {
  /// relaxed everywhere: the flags guard no other memory; a read that races with the death is as
  /// good as one just before it.
  std::atomic<bool> alive{true};
  std::atomic<bool> draining{false};
  /// What the node has published by the last renewal; 0 before it.
  std::atomic<std::uint64_t> newest_generation{0};
  /// On the steady clock: the node takes the lease back no earlier. Counted from when it was asked
  /// for or renewed, and so no later than the node does.
  std::atomic<std::chrono::steady_clock::duration> lease_end{};
};

/// What an attach call gave. The grant socket hangs up when the node dies.
struct HeldLease {
  std::shared_ptr<memory_node::v1::MemoryNode::Stub> stub;
  std::string id;
  std::chrono::milliseconds duration{0};
  std::chrono::milliseconds call_timeout{0};
  std::chrono::steady_clock::time_point asked{};  ///< when the call that gave it was made
  Descriptor grant_socket;
};

/// Owns the lease; detaches when destroyed (waits for that call at most call_timeout).
class LeaseKeeper {
 public:
  LeaseKeeper(HeldLease lease, std::shared_ptr<Liveness> liveness);
  ~LeaseKeeper();
  LeaseKeeper(const LeaseKeeper&) = delete;
  LeaseKeeper& operator=(const LeaseKeeper&) = delete;

 private:
  using Clock = std::chrono::steady_clock;

  void run();
  /// False when the node no longer knows the lease.
  bool renew();
  void held_since(Clock::time_point asked);

  HeldLease lease_;
  const std::shared_ptr<Liveness> liveness_;
  Clock::time_point lease_end_;
  bool ended_ = false;  ///< by the node, or with it; of the thread until it is joined
  Descriptor wake_;     ///< eventfd; readable once the thread must end
  std::thread thread_;
};

}  // namespace farvec::tiers
