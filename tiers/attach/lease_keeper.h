// A LeaseKeeper keeps a lease alive, and notices when the node has gone.
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

/// The keeper writes it, and the endpoints of all cores read it.
struct Liveness {
  /// All of them are relaxed: the flags guard no other memory, and a read that races with the death
  /// is as good as one just before it.
  std::atomic<bool> alive{true};
  std::atomic<bool> draining{false};
  /// The generation that the node has published by the last renewal; 0 before it.
  std::atomic<std::uint64_t> newest_generation{0};
  /// The end of the lease on the steady clock; the node does not take the lease back earlier. It is
  /// counted from when the lease was asked for or renewed, and so ends no later than by the node's
  /// count.
  std::atomic<std::chrono::steady_clock::duration> lease_end{};
};

/// A HeldLease is what an attach call gave. The grant socket hangs up when the node dies.
struct HeldLease {
  std::shared_ptr<memory_node::v1::MemoryNode::Stub> stub;
  std::string id;
  std::chrono::milliseconds duration{0};
  std::chrono::milliseconds call_timeout{0};
  std::chrono::steady_clock::time_point asked{};  ///< when the call that gave it was made
  Descriptor grant_socket;
};

/// Owns the lease, and detaches when destroyed (it waits for that call at most call_timeout).
class LeaseKeeper {
 public:
  LeaseKeeper(HeldLease lease, std::shared_ptr<Liveness> liveness);
  ~LeaseKeeper();
  LeaseKeeper(const LeaseKeeper&) = delete;
  LeaseKeeper& operator=(const LeaseKeeper&) = delete;

 private:
  using Clock = std::chrono::steady_clock;

  void run();
  /// Returns false when the node no longer knows the lease.
  bool renew();
  void held_since(Clock::time_point asked);

  HeldLease lease_;
  const std::shared_ptr<Liveness> liveness_;
  Clock::time_point lease_end_;
  bool ended_ = false;  ///< the lease was ended by the node, or the node is gone; owned by the
                        ///< thread until it is joined
  Descriptor wake_;     ///< eventfd; readable once the thread must end
  std::thread thread_;
};

}  // namespace farvec::tiers
